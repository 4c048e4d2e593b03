import { expect, it, jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import type { UnsealedTurnQueries } from '../../../../projections/unsealed-turns/unsealed-turns.queries.js';
import { answeringOptions } from '../../../../test/support/turns.js';
import { StoreUnavailable } from '../../../kernel/event-sourcing/event-store.js';
import { KeyValueUnavailable } from '../../../kernel/messaging/key-value.js';
import type { Timing } from '../../../kernel/timing.js';
import { InProcessKeyValue } from '../../../platform/messaging/key-value/in-process-key-value.js';
import { AnsweringOptions, producerLeaseMs } from '../loop/answering-options.js';
import { PAUSES_REMEMBERED_MAX } from './complete-pauses.js';
import { producerKey, RECOVERED_AT_ONCE_MAX, SweepTurns, SWEEP_EVERY_MS, SWEPT_TURNS_MAX } from './sweep-turns.ticker.js';
import type { TurnRunner } from './turn-runner.js';

Logger.overrideLogger(false);

type Taken = Readonly<{ turnId: string; producer: string | null; pausedUntil?: Date | null }>;

const UNTIL = new Date('2026-01-01T00:30:00Z');

/** A sweeper over given turns, with a runner that records its calls. `beat` lets SWEEP_EVERY_MS pass and ticks. */
function sweeping(turns: readonly Taken[], { keyValue = new InProcessKeyValue(), concurrent = 100 } = {}) {
  const done: string[] = [];
  const running: string[] = [];
  const asTurns = (chosen: readonly Taken[]) => chosen.map(({ turnId }) => ({ turnId, conversationId: 'c1' }));
  const isPaused = ({ pausedUntil }: Taken) => Boolean(pausedUntil);
  const queries = {
    untaken: async (limit: number) => asTurns(turns.filter(({ producer }) => producer === null).slice(0, limit)),
    taken: async (limit: number, after?: Taken) => {
      const paused = turns.filter(isPaused);
      const page = paused.slice(paused.findIndex(({ turnId }) => turnId === after?.turnId) + 1).slice(0, limit);
      const producers = new Set(turns.flatMap((turn) => (isPaused(turn) ? [] : (turn.producer ?? []))));
      return { producers: [...producers], paused: page.map((turn) => ({ ...turn, conversationId: 'c1' })) };
    },
    takenBy: async (producers: readonly string[], running: readonly string[], limit: number) => {
      const isLeft = (turn: Taken) => producers.includes(turn.producer!) && !isPaused(turn) && !running.includes(turn.turnId);
      return asTurns(turns.filter(isLeft).slice(0, limit));
    },
  } as unknown as UnsealedTurnQueries;
  const runner = {
    producer: 'own',
    running,
    run: async (_: string, turnId: string) => {
      done.push(`run ${turnId}`);
      if (turnId === 'resumable') await new Promise(() => undefined);
      if (turnId.startsWith('fails')) throw new Error('It cannot be read.');
    },
    recover: async (_: string, turnId: string) => {
      if (turnId.startsWith('broken')) throw new Error('It cannot be read.');
      if (turnId.startsWith('unreachable')) throw new StoreUnavailable('It is away.');
      done.push(`recover ${turnId}`);
      return turnId === 'resumable' ? 'requeued' : 'recovered';
    },
  } as unknown as TurnRunner;
  const options = new AnsweringOptions({ ...answeringOptions.settings, staleProducerMs: 10_000, turnsConcurrentMax: concurrent });
  let elapsedMs = 0;
  const sweeper = new SweepTurns(queries, keyValue, runner, options, { elapsedMs: () => elapsedMs } as Timing);
  const beat = () => {
    elapsedMs += SWEEP_EVERY_MS;
    return sweeper.tick();
  };
  return { done, running, keyValue, options, beat };
}

it('runs turns that two sweeps have found unclaimed, as far as the process has room for them', async () => {
  const waiting = ['t1', 't2', 't3', 't4'].map((turnId) => ({ turnId, producer: null }));
  const { done, running, beat } = sweeping(waiting, { concurrent: 3 });
  running.push('another');
  await beat();
  expect(done).toEqual([]);
  await beat();
  expect(done).toEqual(['run t1', 'run t2']);
  running.push('t1', 't2');
  await beat();
  expect(done).toHaveLength(2);
});

it('runs turns although those before them fail in each sweep, which are tried again when there is room', async () => {
  const waiting = ['fails 1', 'fails 2', 't1', 't2'].map((turnId) => ({ turnId, producer: null }));
  const { done, beat } = sweeping(waiting, { concurrent: 2 });
  for (let beats = 0; beats < 4; beats++) await beat();
  expect(done.slice(-2)).toEqual(['run t1', 'run t2']);
  waiting.splice(2);
  await beat();
  expect(done.slice(-2)).toEqual(['run fails 1', 'run fails 2']);
});

it('tries turns that have failed by turns, also those that failed once behind others that fail in each sweep', async () => {
  const waiting = ['fails 1', 'fails 2', 'fails 3'].map((turnId) => ({ turnId, producer: null }));
  const { done, beat } = sweeping(waiting, { concurrent: 2 });
  for (let beats = 0; beats < 7; beats++) await beat();
  expect(done.filter((each) => each === 'run fails 3').length).toBeGreaterThan(1);
});

it('runs a turn although more than SWEPT_TURNS_MAX turns before it fail in each sweep', async () => {
  const failing = Array.from({ length: SWEPT_TURNS_MAX }, (_, index) => `fails ${index}`);
  const waiting = [...failing, 't1'].map((turnId) => ({ turnId, producer: null }));
  const { done, beat } = sweeping(waiting, { concurrent: SWEPT_TURNS_MAX });
  for (let beats = 0; beats < 4; beats++) await beat();
  expect(done).toContain('run t1');
});

it('recovers a turn although SWEPT_TURNS_MAX turns before it cannot be recovered', async () => {
  const broken = Array.from({ length: SWEPT_TURNS_MAX }, (_, index) => `broken ${index}`);
  const { done, beat } = sweeping([...broken, 't1', 't2'].map((turnId) => ({ turnId, producer: 'dead' })));
  for (let beats = 0; beats < 4; beats++) await beat();
  expect(done.slice(0, 2)).toEqual(['recover t1', 'recover t2']);
});

it('recovers only turns whose producer has no lease in two consecutive checks', async () => {
  const { done, keyValue, beat } = sweeping([
    { turnId: 't1', producer: 'dead' },
    { turnId: 't2', producer: 'alive' },
  ]);
  await keyValue.put(producerKey('alive'), '');
  await beat();
  expect(done).toEqual([]);
  await beat();
  expect(done).toEqual(['recover t1']);
});

it('recovers a paused turn once, and again after it was resumed and abandoned', async () => {
  const left: { turnId: string; producer: string; pausedUntil: Date | null } = {
    turnId: 't1',
    producer: 'dead',
    pausedUntil: UNTIL,
  };
  const { done, beat } = sweeping([left]);
  for (let beats = 0; beats < 5; beats++) await beat();
  expect(done).toEqual(['recover t1']);
  left.pausedUntil = null;
  for (let beats = 0; beats < 2; beats++) await beat();
  expect(done).toEqual(['recover t1', 'recover t1']);
});

it('recovers a paused turn again if it has paused once more', async () => {
  const left = { turnId: 't1', producer: 'dead', pausedUntil: UNTIL };
  const { done, beat } = sweeping([left]);
  for (let beats = 0; beats < 5; beats++) await beat();
  // Another process has resumed the turn, reached its next pause, and died.
  left.pausedUntil = new Date(UNTIL.getTime() + 1);
  for (let beats = 0; beats < 5; beats++) await beat();
  expect(done).toEqual(['recover t1', 'recover t1']);
});

/** Sweeps a number of paused turns for two rounds over all of them. Returns how many were recovered, and how often. */
async function sweptPauses(count: number) {
  const paused = Array.from({ length: count }, (_, turn) => ({ turnId: `t${turn}`, producer: 'dead', pausedUntil: UNTIL }));
  const { done, beat } = sweeping(paused);
  const beats = 2 * Math.ceil(count / SWEPT_TURNS_MAX);
  for (let each = 0; each < 2 * beats; each++) await beat();
  return { turns: new Set(done).size, recoveries: done.length, beats };
}

it('remembers at most PAUSES_REMEMBERED_MAX complete pauses and recovers further ones again', async () => {
  const { turns, recoveries, beats } = await sweptPauses(PAUSES_REMEMBERED_MAX + 1);
  expect(turns).toBe(PAUSES_REMEMBERED_MAX + 1);
  const again = recoveries - turns;
  expect(again).toBeGreaterThan(0);
  expect(again).toBeLessThan(2 * beats);
});

it('recovers all paused turns, however many there are', async () => {
  const count = PAUSES_REMEMBERED_MAX + 3 * SWEPT_TURNS_MAX;
  expect((await sweptPauses(count)).turns).toBe(count);
});

it('recovers each paused turn once, also while this process pauses further turns with each sweep', async () => {
  const [perBeat, beatsPaused] = [50, 5];
  const paused: Taken[] = [];
  const { done, beat } = sweeping(paused);
  const beats = (1.5 * PAUSES_REMEMBERED_MAX) / perBeat;
  for (let each = 0; each < beats; each++) {
    if (each >= beatsPaused) paused.splice(0, perBeat);
    for (let turn = 0; turn < perBeat; turn++) paused.push({ turnId: `t${each}-${turn}`, producer: 'own', pausedUntil: UNTIL });
    await beat();
  }
  expect(done.length).toBeGreaterThan(PAUSES_REMEMBERED_MAX);
  expect(new Set(done).size).toBe(done.length);
});

it('does not recover a paused turn that this process has resumed meanwhile', async () => {
  const paused = ['t1', 't2'].map((turnId) => ({ turnId, producer: 'own', pausedUntil: UNTIL }));
  const { done, running, beat } = sweeping(paused);
  await beat();
  const push = done.push.bind(done);
  done.push = (what) => {
    running.push('t2');
    return push(what);
  };
  await beat();
  expect([...done]).toEqual(['recover t1']);
});

it('recovers a paused turn although more of them cannot be recovered than a sweep reads', async () => {
  const broken = Array.from({ length: SWEPT_TURNS_MAX }, (_, turn) => `broken ${turn}`);
  const paused = [...broken, 't1'].map((turnId) => ({ turnId, producer: 'dead', pausedUntil: UNTIL }));
  const { done, beat } = sweeping(paused);
  for (let beats = 0; beats < 4; beats++) await beat();
  expect(done).toEqual(['recover t1']);
});

it('recovers turns that this process has claimed and is not running, although its lease is held', async () => {
  const { done, running, keyValue, beat } = sweeping([
    { turnId: 't1', producer: 'own' },
    { turnId: 't2', producer: 'own' },
  ]);
  await keyValue.put(producerKey('own'), '');
  running.push('t2');
  await beat();
  await beat();
  expect(done).toEqual(['recover t1']);
});

it('recovers the other turns although one cannot be recovered', async () => {
  const { done, beat } = sweeping(['broken', 't1', 't2'].map((turnId) => ({ turnId, producer: 'dead' })));
  await beat();
  await beat();
  expect(done).toEqual(['recover t1', 'recover t2']);
});

it('runs a requeued turn and recovers all others without waiting for it', async () => {
  const left = Array.from({ length: 2 * RECOVERED_AT_ONCE_MAX }, (_, turn) => `t${turn}`);
  const { done, beat } = sweeping(['resumable', ...left].map((turnId) => ({ turnId, producer: 'dead' })));
  await beat();
  await beat();
  expect(done).toContain('run resumable');
  expect(done.filter((each) => each.startsWith('recover t'))).toHaveLength(left.length);
});

class AwayKeyValue extends InProcessKeyValue {
  away = true;
  override async get(key: string) {
    if (this.away) throw new KeyValueUnavailable('away');
    return super.get(key);
  }
}

it("recovers turns although the store of leases is unavailable from time to time for less than a lease's duration", async () => {
  const keyValue = new AwayKeyValue();
  keyValue.away = false;
  const { done, beat } = sweeping([{ turnId: 't1', producer: 'dead' }], { keyValue });
  for (let beats = 0; beats < 6; beats++) {
    await beat();
    keyValue.away = !keyValue.away;
  }
  expect(done).toContain('recover t1');
});

it('after a long outage of the store of leases, gives producers one lease duration to take their leases again', async () => {
  const keyValue = new AwayKeyValue();
  const { done, options, beat } = sweeping([{ turnId: 't1', producer: 'late' }], { keyValue });
  for (let beats = 0; beats < 10; beats++) await beat();
  keyValue.away = false;
  for (let ms = SWEEP_EVERY_MS; ms < producerLeaseMs(options); ms += SWEEP_EVERY_MS) await beat();
  expect(done).toEqual([]);
  await keyValue.put(producerKey('late'), '');
  await beat();
  await beat();
  expect(done).toEqual([]);
  await keyValue.delete(producerKey('late'));
  await beat();
  await beat();
  expect(done).toEqual(['recover t1']);
});

it('gives them that time, and no more', async () => {
  const keyValue = new AwayKeyValue();
  const { done, options, beat } = sweeping([{ turnId: 't1', producer: 'late' }], { keyValue });
  for (let beats = 0; beats < 10; beats++) await beat();
  keyValue.away = false;
  await beat();
  for (let ms = 2 * SWEEP_EVERY_MS; ms < producerLeaseMs(options); ms += SWEEP_EVERY_MS) await beat();
  expect(done).toEqual([]);
  for (let beats = 0; beats < 3; beats++) await beat();
  expect(done).toEqual(['recover t1']);
});

it('fails as a whole while the event store is away, so that the outage is not logged for each turn', async () => {
  const logged = jest.spyOn(Logger.prototype, 'error').mockImplementation(() => undefined);
  const { done, beat } = sweeping([
    { turnId: 'unreachable-1', producer: 'dead' },
    { turnId: 'unreachable-2', producer: 'dead' },
    { turnId: 't1', producer: 'dead' },
  ]);
  await beat();
  await expect(beat()).rejects.toMatchObject({ cause: new StoreUnavailable('It is away.') });
  expect(done).toEqual(['recover t1']);
  expect(logged).not.toHaveBeenCalled();
  logged.mockRestore();
});
