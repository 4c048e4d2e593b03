import { expect, it } from '@jest/globals';
import type { UnsealedTurnQueries } from '../../../../projections/unsealed-turns/unsealed-turns.queries.js';
import { InMemoryEventStore } from '../../../../test/support/in-memory-event-store.js';
import { PAUSE_EXPIRES_AT, turnPaused, waitingCall } from '../../../../test/support/pauses.js';
import { askedTurn, cause, eventsOf } from '../../../../test/support/turns.js';
import { conversation } from '../../conversation/conversation.decider.js';
import { startTurn } from '../../conversation/turn.decider.js';
import { conversationStream } from '../../conversation/conversation.events.js';
import { pause, resume } from '../../conversation/pause.decider.js';
import type { Decide } from '../../conversation/turn.policy.js';
import { Streams } from '../../../kernel/event-sourcing/streams.js';
import type { TurnRunner } from './turn-runner.js';
import { EXPIRED_PAUSES_MAX, ExpirePauses } from './expire-pauses.ticker.js';
import { systemIds } from '../../../platform/system-ids.js';
import { systemTiming } from '../../../platform/system-timing.js';
import { turnCommands } from '../../../../test/support/turn-commands.js';

const THEN = new Date(PAUSE_EXPIRES_AT);

/** A log with one paused turn for each conversation, and a ticker whose read model reports all of them as expired. */
async function waiting(ids: readonly string[]) {
  const store = new InMemoryEventStore();
  const streams = new Streams(store, systemTiming);
  const decide = (id: string, decision: Decide) => streams.transact(conversationStream(id), conversation, decision, cause);
  for (const id of ids) {
    const about = { conversationId: id, turnId: `turn-of-${id}` };
    await askedTurn(store, id, about.turnId);
    await decide(id, startTurn(about.turnId, 'p1'));
    await decide(id, pause(turnPaused(about, [waitingCall('k1')]).data, 'p1'));
  }
  const limits: number[] = [];
  const queries = {
    expired: async (_: Date, limit: number) => {
      limits.push(limit);
      return ids.slice(0, limit).map((id) => ({ conversationId: id, turnId: `turn-of-${id}` }));
    },
  } as unknown as UnsealedTurnQueries;
  const lastOf = async (id: string) => (await eventsOf(store, conversationStream(id))).at(-1)!;
  const settled: string[] = [];
  const runner = { recover: async (_: string, turnId: string) => void settled.push(turnId) } as unknown as TurnRunner;
  const ticker = new ExpirePauses(queries, turnCommands(streams), runner, systemIds);
  const tick = (now: Date) => ticker.tick(now);
  return { store, streams, decide, limits, lastOf, tick, settled };
}

it('an expired pause ends its turn once, with the ticker as the actor', async () => {
  const { tick, lastOf, settled } = await waiting(['c1', 'c2']);
  await tick(THEN);
  expect(settled).toEqual(['turn-of-c1', 'turn-of-c2']);
  const last = await lastOf('c1');
  expect(last.type).toBe('TurnAnswered');
  expect(JSON.parse(last.metadata)).toMatchObject({ actor: 'system:expire-pauses' });
  expect((await lastOf('c2')).type).toBe('TurnAnswered');
  await tick(THEN);
  expect((await lastOf('c1')).revision).toBe(last.revision);
  expect(settled).toHaveLength(2);
});

it('a pause that has expired in the read model but not in the log does not change', async () => {
  const { tick, decide, lastOf } = await waiting(['c1', 'c2']);
  await decide('c2', resume([{ callId: 'k1', decision: 'approved' }], { userId: 'alice' }, new Date(0)));
  await tick(new Date(THEN.getTime() - 1));
  expect((await lastOf('c1')).type).toBe('TurnPaused');
  await tick(THEN);
  expect((await lastOf('c2')).type).toBe('TurnResumed');
});

it('a pause that cannot be ended does not prevent others from ending', async () => {
  const { tick, store, lastOf } = await waiting(['c1', 'c2']);
  store.bury(conversationStream('c1'));
  await expect(tick(THEN)).rejects.toThrow('1 of 2 failed');
  expect((await lastOf('c2')).type).toBe('TurnAnswered');
});

it('a tick requests at most EXPIRED_PAUSES_MAX pauses', async () => {
  const { tick, limits } = await waiting(['c1']);
  await tick(THEN);
  expect(limits).toEqual([EXPIRED_PAUSES_MAX]);
});

it('pauses that cannot be ended are tried after all others', async () => {
  const poisoned = Array.from({ length: EXPIRED_PAUSES_MAX }, (_, index) => `poisoned-${index}`);
  const { tick, store, lastOf, limits, settled } = await waiting([...poisoned, 'c1']);
  for (const id of poisoned) store.bury(conversationStream(id));
  await expect(tick(THEN)).rejects.toThrow(`${EXPIRED_PAUSES_MAX} of ${EXPIRED_PAUSES_MAX} failed`);
  const append = store.append.bind(store);
  const tried: string[] = [];
  store.append = (stream, ...what) => {
    tried.push(stream);
    return append(stream, ...what);
  };
  await expect(tick(THEN)).rejects.toThrow(`${EXPIRED_PAUSES_MAX - 1} of ${EXPIRED_PAUSES_MAX} failed`);
  expect([tried[0], settled, (await lastOf('c1')).type]).toEqual([conversationStream('c1'), ['turn-of-c1'], 'TurnAnswered']);
  expect(limits).toEqual([EXPIRED_PAUSES_MAX, 2 * EXPIRED_PAUSES_MAX]);
});
