import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { type TestDatabase, testDatabase } from '../test/support/postgres-for-tests.js';
import { projecting } from '../test/support/projecting.js';
import { turnSettings } from '../test/support/turn-settings.js';
import { usedBy } from '../src/background/runs/run-use.policy.js';
import { runCodec } from '../src/background/runs/run.codec.js';
import { type RunEvent, runStream } from '../src/background/runs/run.events.js';
import { type ResearchEvent, researchStream } from '../src/dialogue/answering/research/research.events.js';
import { decode } from '../src/kernel/event-sourcing/codec.js';
import type { StoredEvent } from '../src/kernel/event-sourcing/event-store.js';
import { type DeliveryEvent, deliveryStream } from '../src/triggers/webhooks/delivery.events.js';
import { projections } from './catalogue.js';

const runId = 'r1';
const stream = runStream(runId);
const delivery = { stream: deliveryStream('d1'), revision: 0 };
const attempt = (number: number) => ({ runId, attempt: number });
const used = (promptTokens: number, completionTokens: number) => ({ usage: { promptTokens, completionTokens } });
const call = {
  ...{ callId: 'k1', toolId: 'w', toolName: 'web', actionName: 'get', name: 'get', arguments: {}, argumentsSha256: 'ef' },
};
const record = { tool_name: 'web', action_name: 'get', call_id: 'k1', arguments: {}, status: 'completed', result: 'ok' };

const DELIVERED: DeliveryEvent = {
  type: 'DeliveryAccepted',
  data: { agentId: 'helper', ownerId: 'ann', taskId: runId, fingerprint: 'f', acceptedAt: '2026-11-01T00:00:00Z', input: '{}' },
};
const RESEARCHED: ResearchEvent = { type: 'ResearchClarificationAsked', data: { turnId: runId, text: 'Which?' } };

const DELIVERIES_PURGED: DeliveryEvent = {
  type: 'DeliveriesPurged',
  data: { agentId: 'helper', ownerId: 'ann', purgedAt: '2026-11-30T00:00:00Z' },
};

/** A run with two attempts. */
const RAN: readonly RunEvent[] = [
  { type: 'RunQueued', data: { runId, ownerId: 'ann', agentId: 'helper', trigger: 'webhook', input: '{}' } },
  { type: 'RunStarted', data: { ...attempt(1), settings: turnSettings({ agentId: 'helper' }) } },
  { type: 'RunToolCallStarted', data: { ...attempt(1), effect: 0, call } },
  { type: 'RunToolCallFinished', data: { ...attempt(1), effect: 0, status: 'completed', result: 'ok' } },
  { type: 'RunAttemptAbandoned', data: { ...attempt(1), modelId: 'm1', ...used(100, 20) } },
  { type: 'RunStarted', data: { ...attempt(2), settings: turnSettings({ agentId: 'helper' }) } },
  {
    type: 'RunFinished',
    data: {
      ...attempt(2),
      ...{ answer: 'Done.', thought: '', sources: [], toolCalls: [record], structured: false },
      ...{ modelId: 'm1', ...used(60, 10), error: null },
    },
  },
];

let database: TestDatabase;
beforeAll(async () => {
  database = await testDatabase();
});
afterAll(() => database.close());

const followers = projections.filter(
  ({ categories, exceptCategories }) => categories?.includes('run') ?? !exceptCategories?.includes('run'),
);

it('several read models use events of runs', () => expect(followers.length).toBeGreaterThan(4));

it.each(followers)(
  '$name has the same rows of a purged run, however many of its events are left in the log',
  async (projection) => {
    const model = await projecting(projection, database.sql);
    await model.given(delivery.stream, [DELIVERED]);
    const stored = [...(await model.given(stream, RAN.slice(0, 2)))];
    await model.given(researchStream(runId), [RESEARCHED]);
    stored.push(...(await model.given(stream, RAN.slice(2))));
    const uses = usedBy(stored.map((each) => decode<RunEvent>(runCodec, each)!));
    const data = { runId, ownerId: 'ann', agentId: 'helper', delivery, used: uses, purgedAt: '2026-11-30T00:00:00Z' };
    await model.given(stream, [{ type: 'RunPurged', data: { ...data, trigger: 'webhook' } }]);
    await model.given(delivery.stream, [DELIVERIES_PURGED]);
    await model.again();
    // A rebuild may have read the first events before the stream was truncated, with or without the delivery.
    for (let read = 0; read <= RAN.length; read++) {
      const isLeft = (event: StoredEvent) => event.stream !== stream || event.revision < read || event.type === 'RunPurged';
      await model.expectSameAfterRebuild(isLeft);
      await model.expectSameAfterRebuild((event) => isLeft(event) && event.type !== 'DeliveryAccepted');
    }
    // The store deletes the oldest events first, and a rebuild may read the others before they are deleted.
    for (let deleted = 1; deleted < RAN.length; deleted++)
      await model.expectSameAfterRebuild((event) => event.stream !== stream || event.revision >= deleted);
  },
);
