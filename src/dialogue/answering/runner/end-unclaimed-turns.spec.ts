import { beforeEach, describe, expect, it } from '@jest/globals';
import { Logger } from '@nestjs/common';
import type { UnsealedTurnQueries } from '../../../../projections/unsealed-turns/unsealed-turns.queries.js';
import { InMemoryBlobs } from '../../../../test/support/in-memory-blobs.js';
import { InMemoryEventStore } from '../../../../test/support/in-memory-event-store.js';
import { turnCommands } from '../../../../test/support/turn-commands.js';
import {
  answeringOptions,
  askedTurn,
  cause,
  deltas,
  eventsOf,
  framesOf,
  scripted,
  workerOver,
} from '../../../../test/support/turns.js';
import type { EventStore } from '../../../kernel/event-sourcing/event-store.js';
import { Streams } from '../../../kernel/event-sourcing/streams.js';
import type { Timing } from '../../../kernel/timing.js';
import { InProcessKeyValue } from '../../../platform/messaging/key-value/in-process-key-value.js';
import { InProcessSignals } from '../../../platform/messaging/signals/in-process-signals.js';
import { systemIds } from '../../../platform/system-ids.js';
import { systemTiming } from '../../../platform/system-timing.js';
import { WORKER_LEASES } from '../../../work/tasks/task.policy.js';
import { conversation, remove } from '../../conversation/conversation.decider.js';
import { conversationStream } from '../../conversation/conversation.events.js';
import { MessageFeed } from '../../journal/message-feed.js';
import { AnsweringOptions } from '../loop/answering-options.js';
import { Continuations } from '../continuations/continuations.js';
import type { TurnToRun } from '../../journal/message.events.js';
import { EnqueuedTurns } from '../intake/enqueued-turns.js';
import { EndUnclaimedTurns } from './end-unclaimed-turns.ticker.js';
import { NO_WORKER_NOTICE } from './resumed-run.js';
import { SweepTurns, SWEPT_TURNS_MAX } from './sweep-turns.ticker.js';
import { TurnCloser } from './turn-closer.js';
import { NO_WORKER, UnclaimedTurns } from './unclaimed-turns.js';

Logger.overrideLogger(false);

const STALE_MS = 10_000;
const NO_WORKER_MS = 60_000;
const options = new AnsweringOptions({
  ...answeringOptions.settings,
  worker: false,
  staleProducerMs: STALE_MS,
  noWorkerTurnMs: NO_WORKER_MS,
});

let store: InMemoryEventStore;
let keyValue: InProcessKeyValue;
beforeEach(async () => {
  store = new InMemoryEventStore();
  keyValue = new InProcessKeyValue();
  await askedTurn(store, 'c1', 't1');
});

/** Ticks when the process has run for a time. */
function ticking(turns: UnsealedTurnQueries, unclaimed: UnclaimedTurns, sweep: SweepTurns, enqueued: readonly TurnToRun[] = []) {
  let elapsedMs = 0;
  const timing = { elapsedMs: () => elapsedMs } as Timing;
  const own = new EnqueuedTurns(timing, options);
  for (const turn of enqueued) own.note(turn);
  const ticker = new EndUnclaimedTurns(turns, keyValue, unclaimed, sweep, options, own, timing);
  return (ms: number) => {
    elapsedMs = ms;
    return ticker.tick();
  };
}

/** A process that accepts questions and runs no turns. */
function front(over: EventStore = store, enqueued?: readonly TurnToRun[]) {
  const streams = new Streams(over, systemTiming);
  const commands = turnCommands(streams);
  const feed = new MessageFeed(over, new InProcessSignals(), systemTiming);
  const closer = new TurnCloser(
    over,
    streams,
    commands,
    new Continuations(new InMemoryBlobs()),
    { now: () => new Date() },
    options,
  );
  const unclaimed = new UnclaimedTurns(commands, closer, streams, feed, systemTiming, systemIds);
  const turns = {
    untaken: async () => {
      const { state } = await streams.fold(conversationStream('c1'), conversation);
      const isWaiting = !enqueued && state.turns.get('t1')?.status === 'asked';
      return isWaiting ? [{ conversationId: 'c1', turnId: 't1' }] : [];
    },
    taken: async () => ({ producers: [], paused: [] }),
    takenBy: async () => [],
  } as unknown as UnsealedTurnQueries;
  const sweep = new SweepTurns(turns, keyValue, { producer: 'front', running: [] } as never, options, systemTiming);
  return { at: ticking(turns, unclaimed, sweep, enqueued), unclaimed };
}

const worker = (...texts: string[]) => workerOver(store, new InProcessSignals(), scripted(deltas(...texts))).runner;
const outcomes = async () =>
  (await eventsOf(store, conversationStream('c1')))
    .map(({ type }) => type)
    .filter((type) => /Answered|Failed|Stopped|Sealed/.test(type));
const types = async () => (await framesOf(store, 't1')).map(({ type }) => type);
const NOTICED = [expect.objectContaining({ type: 'message_id' }), { type: 'notice', notice: NO_WORKER_NOTICE }];
const FAILED = [{ type: 'error', error: NO_WORKER.text, code: 'no_worker' }, { type: 'id', id: 'c1' }, { type: 'end' }];

/** Ticks every second up to a time. */
async function upTo(at: (afterMs: number) => Promise<void>, ms: number): Promise<void> {
  for (let now = 0; now <= ms; now += 1_000) await at(now);
}

describe('a question while no worker is alive', () => {
  it('gets one notice with an id and finally fails', async () => {
    const { at } = front();
    await upTo(at, STALE_MS - 1);
    expect(await types()).toEqual([]);
    await at(STALE_MS);
    expect(await framesOf(store, 't1')).toEqual(NOTICED);
    for (let now = STALE_MS; now < NO_WORKER_MS; now += 1_000) await at(now);
    expect(await framesOf(store, 't1')).toEqual(NOTICED);
    await at(NO_WORKER_MS);
    expect(await framesOf(store, 't1')).toEqual([...NOTICED, ...FAILED]);
    expect(await outcomes()).toEqual(['TurnFailed', 'TurnSealed']);
  });

  it('gets one notice and fails also if no projector is alive, so that no read model has it', async () => {
    const { at } = front(store, [{ conversationId: 'c1', turnId: 't1' }]);
    await upTo(at, STALE_MS);
    expect(await framesOf(store, 't1')).toEqual(NOTICED);
    await upTo(at, NO_WORKER_MS + 2_000);
    expect(await framesOf(store, 't1')).toEqual([...NOTICED, ...FAILED]);
    expect(await outcomes()).toEqual(['TurnFailed', 'TurnSealed']);
  });

  it('is answered after the notice by a worker that starts just before the limit', async () => {
    const { at } = front();
    await upTo(at, NO_WORKER_MS - 1);
    await worker('Because.').run('c1', 't1');
    await at(NO_WORKER_MS);
    expect(await types()).toEqual(['message_id', 'notice', 'answer', 'source', 'tool_calls', 'id', 'end']);
    expect(await outcomes()).toEqual(['TurnAnswered', 'TurnSealed']);
  });

  it('is not answered by a worker that starts after the limit', async () => {
    const { at } = front();
    await upTo(at, NO_WORKER_MS);
    await worker('Because.').run('c1', 't1');
    expect(await framesOf(store, 't1')).toEqual([...NOTICED, ...FAILED]);
    expect(await outcomes()).toEqual(['TurnFailed', 'TurnSealed']);
  });

  it('gets one notice and fails once, although two processes handle it', async () => {
    const fronts = [front(), front()];
    for (let now = 0; now <= NO_WORKER_MS + 1_000; now += 1_000) await Promise.all(fronts.map(({ at }) => at(now)));
    expect(await framesOf(store, 't1')).toEqual([...NOTICED, ...FAILED]);
    expect(await outcomes()).toEqual(['TurnFailed', 'TurnSealed']);
  });

  it('ends once, whether a worker or another process is first', async () => {
    for (let head = 0; head < 24; head++) {
      store = new InMemoryEventStore();
      await askedTurn(store, 'c1', 't1');
      const late = async (work: () => Promise<void>, jobs: number) => {
        for (let passed = 0; passed < jobs; passed++) await Promise.resolve();
        await work();
      };
      const { unclaimed } = front();
      await Promise.all([
        late(() => worker('Be', 'cause.').run('c1', 't1'), head),
        late(() => unclaimed.report('c1', 't1'), 0),
        late(() => unclaimed.end('c1', 't1'), 10 * (head % 5)),
      ]);
      expect(await outcomes()).toEqual([expect.stringMatching(/Answered|Failed/), 'TurnSealed']);
      const shown = await types();
      expect(shown.filter((type) => type === 'message_id' || type === 'end')).toEqual(['message_id', 'end']);
      expect(shown.filter((type) => type === 'notice').length).toBeLessThanOrEqual(1);
    }
  });

  it('ends if its conversation is deleted', async () => {
    const { unclaimed } = front();
    await unclaimed.report('c1', 't1');
    const streams = new Streams(store, systemTiming);
    await streams.transact(conversationStream('c1'), conversation, remove, cause);
    await unclaimed.end('c1', 't1');
    expect((await framesOf(store, 't1')).at(-1)).toMatchObject({ type: 'error', code: 'stopped' });
  });
});

it('while a worker is alive no notice is written, and after its end the waiting time starts again', async () => {
  const { at } = front();
  const goneAt = NO_WORKER_MS * 2;
  await at(0);
  await keyValue.put(`${WORKER_LEASES}w1`, '');
  await at(goneAt - 1);
  await keyValue.delete(`${WORKER_LEASES}w1`);
  await at(goneAt);
  await at(goneAt + STALE_MS - 1);
  expect(await types()).toEqual([]);
  await at(goneAt + STALE_MS);
  expect(await types()).toEqual(['message_id', 'notice']);
  await at(goneAt + NO_WORKER_MS - 1);
  expect(await types()).toEqual(['message_id', 'notice']);
  await at(goneAt + NO_WORKER_MS);
  expect((await types()).at(-1)).toBe('end');
});

/** A process that accepts questions, while these wait. What is done with those whose name begins with `fails` fails. */
function waitingFront(turnIds: readonly string[]) {
  const waiting = new Set(turnIds);
  const limits: number[] = [];
  const done: string[] = [];
  const turns = {
    untaken: async (limit: number) => {
      limits.push(limit);
      return [...waiting].slice(0, limit).map((turnId) => ({ conversationId: 'c1', turnId }));
    },
  } as unknown as UnsealedTurnQueries;
  const attempt = async (how: string, turnId: string) => {
    if (turnId.startsWith('fails')) throw new Error('It cannot be read.');
    done.push(`${how} ${turnId}`);
  };
  const unclaimed = {
    report: (_: string, turnId: string) => attempt('report', turnId),
    end: async (_: string, turnId: string) => {
      await attempt('end', turnId);
      waiting.delete(turnId);
    },
  } as unknown as UnclaimedTurns;
  const sweep = { recoverOrphans: async () => undefined } as unknown as SweepTurns;
  return { at: ticking(turns, unclaimed, sweep), limits, done };
}

describe('many questions while no worker is alive', () => {
  it('get their notices, and fail, although as many before them cannot be reported or ended', async () => {
    const failing = Array.from({ length: SWEPT_TURNS_MAX }, (_, index) => `fails ${index}`);
    const { at, done } = waitingFront([...failing, 't1']);
    for (const ms of [0, 1_000, STALE_MS, STALE_MS + 1_000]) await at(ms);
    expect(done).toEqual(['report t1']);
    for (const ms of [NO_WORKER_MS, NO_WORKER_MS + 1_000]) await at(ms);
    expect(done).toEqual(['report t1', 'end t1']);
  });

  it('wait for each other beyond WAITING_TURNS_MAX, and SWEPT_TURNS_MAX of them get their notice in a tick', async () => {
    const { at, limits, done } = waitingFront(Array.from({ length: 2 * SWEPT_TURNS_MAX }, (_, index) => `t${index}`));
    for (const ms of [0, 1_000, STALE_MS]) await at(ms);
    expect(new Set(limits)).toEqual(new Set([10_000]));
    expect(done).toHaveLength(SWEPT_TURNS_MAX);
    await at(STALE_MS + 1_000);
    expect(new Set(done).size).toBe(2 * SWEPT_TURNS_MAX);
  });
});
