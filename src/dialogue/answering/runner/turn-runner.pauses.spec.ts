import { describe, expect, it } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { approvalTurn, FIRST_RUN_FRAMES, PAUSE_FRAMES, RESUMED_RUN_FRAMES } from '../../../../test/support/approval-turns.js';
import { door } from '../../../../test/support/door.js';
import { eventually } from '../../../../test/support/eventually.js';
import { InMemoryBlobs } from '../../../../test/support/in-memory-blobs.js';
import { InMemoryEventStore } from '../../../../test/support/in-memory-event-store.js';
import { MortalStore } from '../../../../test/support/mortal-store.js';
import {
  composerOver,
  offeredAction,
  resultsIn,
  roundOf,
  ScriptedModels,
  text,
  toolCall,
  ToolsForTests,
  WITH_TOOLS,
} from '../../../../test/support/tool-turns.js';
import { askedTurn, bringFurther, cause, eventsOf, framesOf, workerOver } from '../../../../test/support/turns.js';
import { Streams } from '../../../kernel/event-sourcing/streams.js';
import { InProcessSignals } from '../../../platform/messaging/signals/in-process-signals.js';
import { systemTiming } from '../../../platform/system-timing.js';
import { ToolFailed } from '../../../resources/tools/toolbox/tool-kind.port.js';
import { conversation, remove, requestStop } from '../../conversation/conversation.decider.js';
import { type AnswerParts, conversationStream, type TurnPaused } from '../../conversation/conversation.events.js';
import { expire, requeue, REQUEUES_MAX, resume } from '../../conversation/pause.decider.js';
import { type Decide, stopSubject } from '../../conversation/turn.policy.js';
import { messageStream } from '../../journal/message.events.js';

Logger.overrideLogger(false);

const stream = conversationStream('c1');
const journal = messageStream('t1');

describe('a turn that is resumed before all frames of its pause are written', () => {
  it('is continued by the process that writes the pause, without a sweep', async () => {
    const { log, process, begin, turn, approve, outline, effects } = approvalTurn();
    await begin();
    const held = door();
    const store = new MortalStore(log, Infinity, (name, types) =>
      name === journal && types.length === PAUSE_FRAMES.length ? held.opened : undefined,
    );
    const runner = process(store);
    const first = runner.run('c1', 't1');
    await eventually(async () => (await turn()).status === 'paused');
    await approve();
    const second = runner.run('c1', 't1');
    held.open();
    await Promise.all([first, second]);
    expect(await outline()).toEqual([...FIRST_RUN_FRAMES, ...RESUMED_RUN_FRAMES]);
    expect(effects).toEqual(['send_card', 'note_it']);
  });

  it.each(['before', 'after'])(
    'is continued by another process whose frames are written %s those of the first one',
    async (order) => {
      const { log, process, begin, turn, approve, outline, effects, outcome } = approvalTurn();
      await begin();
      const [firstHeld, secondHeld] = [door(), door()];
      const second = door();
      const firstStore = new MortalStore(log, Infinity, (name, types) =>
        name === journal && types.length === PAUSE_FRAMES.length ? firstHeld.opened : undefined,
      );
      const secondStore = new MortalStore(log, Infinity, (name) => {
        if (name !== journal) return undefined;
        second.open();
        return secondHeld.opened;
      });
      const running = process(firstStore).run('c1', 't1');
      await eventually(async () => (await turn()).status === 'paused');
      await approve();
      const resumed = process(secondStore).run('c1', 't1');
      await second.opened;
      if (order === 'after') {
        firstHeld.open();
        await running;
      }
      secondHeld.open();
      await resumed;
      firstHeld.open();
      await running;
      expect(await outline()).toEqual([...FIRST_RUN_FRAMES, ...RESUMED_RUN_FRAMES]);
      expect(effects).toEqual(['send_card', 'note_it']);
      expect((await outcome('TurnAnswered')).statuses).toEqual({ k1: 'completed', k2: 'completed' });
    },
  );
});

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

it('a resumed run whose producers keep dying ends as interrupted', async () => {
  const { log, process, begin, approve, turn, outcome, effects } = approvalTurn();
  await begin();
  await process().run('c1', 't1');
  await approve();
  for (let deaths = 0; deaths <= REQUEUES_MAX; deaths++) {
    const store: MortalStore = new MortalStore(log, Infinity, (_, types) =>
      types.includes('ToolCallStarted') ? store.die() : undefined,
    );
    const runner = process(store);
    await (deaths === 0 ? runner.run('c1', 't1') : bringFurther(runner, 'c1', 't1')).catch(() => undefined);
  }
  expect((await turn()).requeues).toBe(REQUEUES_MAX);
  await bringFurther(process(), 'c1', 't1');
  expect(effects).toEqual([]);
  expect(['skipped', 'error']).toContain((await outcome('TurnFailed')).statuses['k1']);
});

it('a stop before an approved call begins leaves the call recorded as skipped', async () => {
  const { process, begin, approve, decide, effects, outcome } = approvalTurn();
  await begin();
  const runner = process();
  await runner.run('c1', 't1');
  await approve();
  await decide(requestStop('t1'));
  await runner.run('c1', 't1');
  expect(effects).toEqual([]);
  expect((await outcome('TurnStopped')).statuses).toEqual({ k1: 'skipped' });
});

it('of four processes that are offered a resumed turn repeatedly, one runs it', async () => {
  const { process, begin, approve, sweep, effects, outline, models } = approvalTurn();
  await begin();
  const runners = Array.from({ length: 4 }, () => process());
  const all = () => Promise.all(runners.flatMap((runner) => [runner.run('c1', 't1'), runner.run('c1', 't1')]));
  await all();
  await approve();
  const offers = all();
  for (let turns = 0; turns < 40; turns++) {
    void runners[turns % 4]!.run('c1', 't1');
    await new Promise((resolve) => setImmediate(resolve));
  }
  await offers;
  await sweep();
  expect(effects).toEqual(['send_card', 'note_it']);
  expect(await outline()).toEqual([...FIRST_RUN_FRAMES, ...RESUMED_RUN_FRAMES]);
  expect(models.requests).toHaveLength(3);
  expect(resultsIn(models.requests.at(-1)!)).toEqual({ k1: '{"done":"send_card"}', k2: '{"done":"note_it"}' });
});

describe('a producer that is considered dead', () => {
  it('continues undisturbed if it has appended an event since', async () => {
    const { log, process, begin, approve, turn, outline } = approvalTurn();
    await begin();
    await process().run('c1', 't1');
    await approve();
    const [judged, stated, answering, settled] = [door(), door(), door(), door()];
    const mistaken = new MortalStore(log, Infinity, (_, types) => {
      if (!types.includes('TurnRequeued')) return undefined;
      judged.open();
      return stated.opened;
    });
    const busy = new MortalStore(log, Infinity, (_, types) => {
      if (types.includes('ToolCallStarted')) return judged.opened;
      if (!types.includes('TurnAnswered')) return undefined;
      answering.open();
      return settled.opened;
    });
    const producer = process(busy);
    const running = producer.run('c1', 't1');
    await eventually(async () => (await framesOf(log, 't1')).length > FIRST_RUN_FRAMES.length + 1);
    const settling = process(mistaken).recover('c1', 't1');
    await answering.opened;
    stated.open();
    await settling;
    settled.open();
    await running;
    expect(await outline()).toEqual([...FIRST_RUN_FRAMES, ...RESUMED_RUN_FRAMES]);
    expect((await turn()).requeues).toBe(0);
  });

  it('shows no text beyond the recorded answer if its turn was to be stopped', async () => {
    const log = new InMemoryEventStore();
    const streams = new Streams(log, systemTiming);
    const [told, stopping, goesOn] = [door(), door(), door()];
    const models = new ScriptedModels(async function* () {
      yield text('Let me ');
      await told.opened;
      yield text('see.');
    });
    const tools = new ToolsForTests([]);
    const process = (store = new MortalStore(log)) =>
      workerOver(store, new InProcessSignals(), composerOver(models, tools, new InMemoryBlobs())).runner;
    await askedTurn(log, 'c1', 't1');
    const running = process().run('c1', 't1');
    await eventually(async () => (await framesOf(log, 't1')).length === 2);
    await streams.transact(stream, conversation, requestStop('t1'), cause);
    const settling = process(
      new MortalStore(log, Infinity, (_, types) => {
        if (!types.includes('TurnStopped')) return undefined;
        stopping.open();
        return goesOn.opened;
      }),
    ).recover('c1', 't1');
    await stopping.opened;
    told.open();
    await running;
    goesOn.open();
    await settling;
    expect((await framesOf(log, 't1')).filter(({ type }) => type === 'answer')).toHaveLength(1);
    const stopped = (await eventsOf(log, stream)).filter(({ type }) => type === 'TurnStopped');
    expect(stopped.map(({ data }) => (JSON.parse(data) as AnswerParts).answer)).toEqual(['Let me ']);
  });
});

it.each(['works', 'waits as well'])('a producer whose successor %s cannot append a pause', async (how) => {
  const log = new InMemoryEventStore();
  const blobs = new InMemoryBlobs();
  const streams = new Streams(log, systemTiming);
  const tools = new ToolsForTests([offeredAction('send_card', { requiresApproval: true })]);
  const process = (to: string, store = new MortalStore(log), told: Promise<void> = Promise.resolve()) => {
    const models = new ScriptedModels(async function* (request) {
      await told;
      yield toolCall(`k${roundOf(request)}`, 'send_card', { to });
    });
    return workerOver(store, new InProcessSignals(), composerOver(models, tools, blobs), blobs).runner;
  };
  const decide = (decision: Decide) => streams.transact(stream, conversation, decision, cause);
  const [reached, held, asked, told] = [door(), door(), door(), door()];
  await askedTurn(log, 'c1', 't1', WITH_TOOLS);
  await process('ann').run('c1', 't1');
  await decide(resume([{ callId: 'k0', decision: 'denied', comment: null }], { userId: 'alice' }, new Date()));
  const slowStore = new MortalStore(log, Infinity, (_, types) => {
    if (!types.includes('TurnPaused')) return undefined;
    reached.open();
    return held.opened;
  });
  const slow = process('bob', slowStore);
  const running = slow.run('c1', 't1');
  await reached.opened;
  await decide(requeue('t1', slow.producer));

  const nextStore = new MortalStore(log, Infinity, async (name) => {
    const types = (await eventsOf(log, stream)).map(({ type }) => type);
    if (name !== journal || types.filter((type) => type === 'TurnPaused').length < 2) return;
    asked.open();
    await told.opened;
  });
  const next = process('carol', nextStore, how === 'works' ? told.opened : Promise.resolve()).run('c1', 't1');
  if (how === 'works') await eventually(async () => (await eventsOf(log, stream)).at(-1)!.type === 'TurnStarted');
  else await asked.opened;
  held.open();
  await running;
  told.open();
  await next;

  const paused = (await eventsOf(log, stream)).filter(({ type }) => type === 'TurnPaused');
  expect(paused).toHaveLength(2);
  const { lastId, calls } = JSON.parse(paused[1]!.data) as TurnPaused['data'];
  const frames = await framesOf(log, 't1');
  expect(frames).toHaveLength(lastId + 1);
  expect(calls.map((call) => call.arguments)).toEqual([{ to: 'carol' }]);
  expect(JSON.stringify(frames)).not.toContain('bob');
});

const toolStopped = () => new ToolFailed('The call was stopped.');

describe('the calls of a turn that was paused twice', () => {
  const TWICE = [
    [toolCall('k1', 'send_card'), toolCall('k2', 'note_it')],
    [toolCall('k3', 'note_it'), toolCall('k4', 'send_card'), toolCall('k5', 'note_it')],
    [text('Done.')],
  ];
  const CALLED = ['k1', 'k2', 'k3', 'k4', 'k5'];
  const idsOf = (calls: unknown) => (calls as readonly Record<string, unknown>[]).map((call) => call['call_id']);

  it('are shown and stored in the order in which the model requested them', async () => {
    const { log, process, begin, approve, outcome } = approvalTurn(undefined, TWICE);
    await begin();
    const runner = process();
    await runner.run('c1', 't1');
    await approve();
    await runner.run('c1', 't1');
    await approve('k4');
    await runner.run('c1', 't1');
    const shown = (await framesOf(log, 't1'))
      .filter((frame) => frame['type'] === 'tool_calls')
      .map((frame) => idsOf(frame['tool_calls']));
    expect(shown).toEqual([['k2'], ['k1', 'k2', 'k3', 'k5'], CALLED]);
    expect(idsOf((await outcome('TurnAnswered')).toolCalls)).toEqual(CALLED);
  });

  it('are in that order also if the last pause expires', async () => {
    const { log, process, begin, approve, decide, turn, sweep, outcome } = approvalTurn(undefined, TWICE);
    await begin();
    const runner = process();
    await runner.run('c1', 't1');
    await approve();
    await runner.run('c1', 't1');
    await decide(expire('t1', new Date((await turn()).pause!.expiresAt)));
    await sweep();
    const last = (await framesOf(log, 't1')).filter((frame) => frame['type'] === 'tool_calls').at(-1);
    expect(idsOf(last!['tool_calls'])).toEqual(CALLED);
    expect(idsOf((await outcome('TurnAnswered')).toolCalls)).toEqual(CALLED);
  });

  it('are in that order also if the producer dies after the last resumption', async () => {
    async function* cut() {
      yield text('Done.');
      await eventually(async () => (await framesOf(log, 't1')).at(-1)!['answer'] === 'Done.');
      last.die();
    }
    const { log, process, begin, approve, sweep, outcome } = approvalTurn(undefined, [TWICE[0]!, TWICE[1]!, cut()]);
    await begin();
    const runner = process();
    await runner.run('c1', 't1');
    await approve();
    await runner.run('c1', 't1');
    await approve('k4');
    const last = new MortalStore(log);
    await process(last)
      .run('c1', 't1')
      .catch(() => undefined);
    await sweep();
    expect(idsOf((await outcome('TurnFailed')).toolCalls)).toEqual(CALLED);
  });
});
