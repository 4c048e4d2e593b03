import { describe, expect, it } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { approvalTurn, FIRST_RUN_FRAMES, RESUMED_RUN_FRAMES } from '../../../../test/support/approval-turns.js';
import { door } from '../../../../test/support/door.js';
import { eventually } from '../../../../test/support/eventually.js';
import { MortalStore } from '../../../../test/support/mortal-store.js';
import { eventsOf } from '../../../../test/support/turns.js';
import { ToolFailed } from '../../../resources/tools/toolbox/tool-kind.port.js';
import { remove } from '../../conversation/conversation.decider.js';
import { requestStop } from '../../conversation/turn.decider.js';
import { conversationStream } from '../../conversation/conversation.events.js';
import { requeue } from '../../conversation/turn.decider.js';
import { stopSubject } from '../../conversation/turn.policy.js';
import { messageStream } from '../../journal/message.events.js';

Logger.overrideLogger(false);

const stream = conversationStream('c1');
const journal = messageStream('t1');

describe('a call with effects', () => {
  it('is not repeated by a process that read the turn before another process began the call', async () => {
    const { log, process, begin, decide, turn, approve, effects, outcome } = approvalTurn();
    await begin();
    await process().run('c1', 't1');
    await approve();
    const late = door();
    const lateStore = new MortalStore(log, Infinity, (name) => (name === stream ? late.opened : undefined));
    const coming = process(lateStore).run('c1', 't1');
    // Another process claims the turn, begins the call and dies. The turn is requeued and can be claimed as before.
    const dying: MortalStore = new MortalStore(log, Infinity, (_, types) =>
      types.includes('ToolCallFinished') ? dying.die() : undefined,
    );
    await process(dying)
      .run('c1', 't1')
      .catch(() => undefined);
    expect(effects).toEqual(['send_card']);
    await decide(requeue('t1', (await turn()).producer!));
    late.open();
    await coming;
    expect(effects).toEqual(['send_card', 'note_it']);
    expect((await outcome('TurnAnswered')).toolCalls[0]).toMatchObject({ call_id: 'k1', error_type: 'outcome_unknown' });
  });

  it('is not repeated by a process that read the turn before its first run', async () => {
    const { log, process, begin, approve, effects, outcome, outline } = approvalTurn();
    await begin();
    const [late, reached] = [door(), door()];
    const lateStore = new MortalStore(log, Infinity, (name) => {
      if (name === stream) reached.open();
      return name === stream ? late.opened : undefined;
    });
    const coming = process(lateStore).run('c1', 't1');
    await reached.opened;
    await process().run('c1', 't1');
    await approve();
    late.open();
    await coming;
    expect(effects).toEqual(['send_card', 'note_it']);
    expect((await outcome('TurnAnswered')).answer).toBe('Hm. Done.');
    expect(await outline()).toEqual([...FIRST_RUN_FRAMES, ...RESUMED_RUN_FRAMES]);
  });

  it('is not repeated if the model requested it after a pause and no frame shows it', async () => {
    const { log, process, begin, approve, sweep, effects, outcome } = approvalTurn();
    await begin();
    await process().run('c1', 't1');
    await approve();
    // Only the journal is slow, so the second call takes effect before its frame is durable.
    const store: MortalStore = new MortalStore(log, Infinity, (name) => {
      if (name === journal && effects.length === 1) return new Promise(() => undefined);
      if (name === stream && effects.length === 2) store.die();
      return undefined;
    });
    void process(store)
      .run('c1', 't1')
      .catch(() => undefined);
    await eventually(() => effects.length === 2);
    await sweep();
    expect(effects).toEqual(['send_card', 'note_it']);
    expect((await outcome('TurnFailed')).toolCalls).toMatchObject([
      { call_id: 'k1', status: 'completed' },
      { call_id: 'k2', status: 'error', error_type: 'outcome_unknown' },
    ]);
  });

  it('is not begun again by the process whose run failed when the turn is offered to it again', async () => {
    const { log, process, begin, approve, sweep, effects, outcome } = approvalTurn();
    await begin();
    await process().run('c1', 't1');
    await approve();
    const store: MortalStore = new MortalStore(log, Infinity, (_, types) =>
      types.includes('ToolCallFinished') && effects.length === 2 && !store.isDead ? store.die() : undefined,
    );
    const runner = process(store);
    await runner.run('c1', 't1').catch(() => undefined);
    effects.push('the log is back');
    store.revive();
    await runner.run('c1', 't1');
    await sweep();
    expect(effects).toEqual(['send_card', 'note_it', 'the log is back']);
    expect((await outcome('TurnFailed')).statuses).toEqual({ k1: 'completed', k2: 'error' });
  });

  it.each([
    ['stopped', 'TurnStopped'],
    ['deleted', undefined],
  ])('runs to its end when its answer is %s, and its result is kept', async (how, outcomeType) => {
    const held = door();
    const { process, begin, approve, decide, signals, effects, outcome, outline, log } = approvalTurn(async ({ name }) => {
      await held.opened;
      return { done: name };
    });
    await begin();
    const runner = process();
    await runner.run('c1', 't1');
    await approve();
    const running = runner.run('c1', 't1');
    await eventually(() => effects.length === 1);
    await decide(how === 'deleted' ? remove : requestStop('t1'));
    signals.publish(stopSubject('t1'), '');
    await new Promise((resolve) => setImmediate(resolve));
    held.open();
    await running;
    expect(effects).toEqual(['send_card']);
    const end = ['message_id', 'tool_call pending', 'tool_call completed', 'error stopped'];
    expect(await outline()).toEqual([...FIRST_RUN_FRAMES, ...end]);
    if (outcomeType) expect((await outcome(outcomeType)).statuses).toEqual({ k1: 'completed' });
    const types = (await eventsOf(log, stream)).map(({ type }) => type);
    expect(types.includes('ToolCallFinished')).toBe(how === 'stopped');
    expect(types.at(-1)).toBe('TurnSealed');
  });

  it('is abandoned with an unknown outcome by a process that shuts down', async () => {
    const { process, begin, approve, effects, outcome } = approvalTurn(({ context }) => {
      return new Promise((_, reject) => context.signal.addEventListener('abort', () => reject(toolStopped())));
    });
    await begin();
    const runner = process();
    await runner.run('c1', 't1');
    await approve();
    const running = runner.run('c1', 't1');
    await eventually(() => effects.length === 1);
    await runner.close(1);
    await running;
    expect((await outcome('TurnFailed')).toolCalls).toMatchObject([{ call_id: 'k1', error_type: 'outcome_unknown' }]);
  });
});

const toolStopped = () => new ToolFailed('The call was stopped.');
