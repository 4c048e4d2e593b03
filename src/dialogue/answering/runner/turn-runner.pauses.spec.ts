import { describe, expect, it } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { approvalTurn, FIRST_RUN_FRAMES, PAUSE_FRAMES, RESUMED_RUN_FRAMES } from '../../../../test/support/approval-turns.js';
import { door } from '../../../../test/support/door.js';
import { eventually } from '../../../../test/support/eventually.js';
import { MortalStore } from '../../../../test/support/mortal-store.js';
import { resultsIn, text, toolCall } from '../../../../test/support/tool-turns.js';
import { bringFurther, framesOf } from '../../../../test/support/turns.js';
import { requestStop } from '../../conversation/turn.decider.js';
import { expire } from '../../conversation/pause.decider.js';
import { REQUEUES_MAX } from '../../conversation/turn.decider.js';
import { FRAME_EVENT, messageStream } from '../../journal/message.events.js';
import { newId } from '../../../kernel/ids.js';

Logger.overrideLogger(false);

const journal = messageStream('t1');

it('a pause does not count as complete when another writer appends a part of its frames during the recovery', async () => {
  const { log, process, begin, turn, outline } = approvalTurn();
  await begin();
  const dying = new MortalStore(log, Infinity, (name, types) => {
    if (name === journal && types.length === PAUSE_FRAMES.length) dying.die();
  });
  await expect(process(dying).run('c1', 't1')).rejects.toThrow('dead');
  expect((await turn()).status).toBe('paused');
  const frame = { id: newId(), type: FRAME_EVENT, data: '{"type":"notice","notice":"A part."}', metadata: '{}' };
  const overtaken = new MortalStore(log, Infinity, async () => log.append(journal, 1, [frame]).catch(() => undefined));
  const sweeper = process(overtaken);
  expect(await sweeper.recover('c1', 't1')).toBe('overtaken');
  expect(await sweeper.recover('c1', 't1')).toBe('recovered');
  expect(await outline()).toEqual([...FIRST_RUN_FRAMES.slice(0, 2), 'notice', ...PAUSE_FRAMES.slice(1)]);
});

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
