import { beforeEach, expect, it } from '@jest/globals';
import { InMemoryBlobs } from '../../../../test/support/in-memory-blobs.js';
import { InMemoryEventStore } from '../../../../test/support/in-memory-event-store.js';
import { granting } from '../../../../test/support/no-grants.js';
import { askedTurn, cause, deltas, eventsOf, framesOf, scripted, workerOver } from '../../../../test/support/turns.js';
import type { Signals } from '../../../kernel/messaging/signals.js';
import { InProcessSignals } from '../../../platform/messaging/signals/in-process-signals.js';
import { systemTiming } from '../../../platform/system-timing.js';
import { conversationStream } from '../../conversation/conversation.events.js';
import { StopAnswer, StopAnswerHandler } from './stop-answer.commands.js';
import { SharedUse } from './shared-use.js';

let store: InMemoryEventStore;
/** The ids of the agents of other owners that Alice may use. */
let held: Set<string>;
beforeEach(() => {
  store = new InMemoryEventStore();
  held = new Set();
});

const worker = (signals: Signals = new InProcessSignals()) =>
  workerOver(store, signals, scripted(deltas('Because.')), new InMemoryBlobs(), systemTiming, new SharedUse(granting(held)));
const ofBob = { agentId: 'a1', configurationOwnerId: 'bob' } as const;
const lastFrame = async () => (await framesOf(store, 't1')).at(-1);

it('a turn whose user lost access to the agent while it was queued is stopped without an answer', async () => {
  await askedTurn(store, 'c1', 't1', ofBob);
  await worker().runner.run('c1', 't1');
  expect((await framesOf(store, 't1')).filter(({ type }) => type === 'answer')).toEqual([]);
  expect(await lastFrame()).toMatchObject({ type: 'error', code: 'stopped' });
  const stop = (await eventsOf(store, conversationStream('c1'))).find(({ type }) => type === 'TurnStopRequested');
  expect(JSON.parse(stop!.metadata)).toMatchObject({ actor: 'system:turn-runner' });
});

it.each([
  ['whose user still has the agent', ofBob, ['a1']],
  ['of an agent of the user’s own', { agentId: 'a1' }, []],
  ['that was asked with the key of the agent', { ...ofBob, agentKeyId: 'k1' }, []],
] as const)('a turn %s is answered', async (_, settings, ids) => {
  for (const id of ids) held.add(id);
  await askedTurn(store, 'c1', 't1', settings);
  await worker().runner.run('c1', 't1');
  expect(await lastFrame()).toEqual({ type: 'end' });
});

it("such a turn is stopped although messaging is down, while a user's stop request is refused then", async () => {
  const down: Signals = Object.assign(new InProcessSignals(), { healthy: false });
  await askedTurn(store, 'c1', 't1', ofBob);
  const { streams, runner } = worker(down);
  const asked = new StopAnswerHandler(streams, down).execute(new StopAnswer('c1', 't1', cause));
  await expect(asked).rejects.toMatchObject({ code: 'unavailable' });
  await runner.run('c1', 't1');
  expect(await lastFrame()).toMatchObject({ type: 'error', code: 'stopped' });
});
