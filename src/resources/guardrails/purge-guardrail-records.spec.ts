import { expect, it } from '@jest/globals';
import type { GuardrailEventQueries } from '../../../projections/guardrail-events/guardrail-events.queries.js';
import { eventsOf } from '../../../test/contracts/event-store.subject.js';
import { commandsOver } from '../../../test/support/commands-over.js';
import { InMemoryEventStore } from '../../../test/support/in-memory-event-store.js';
import { cause } from '../../../test/support/turns.js';
import { Streams } from '../../kernel/event-sourcing/streams.js';
import { systemTiming } from '../../platform/system-timing.js';
import type { GuardrailDecision } from './guardrail-decisions.policy.js';
import { GuardrailOptions } from './guardrail-options.js';
import {
  PurgeGuardrailRecordHandler,
  RecordGuardrailDecisions,
  RecordGuardrailDecisionsHandler,
} from './guardrail-record.commands.js';
import { guardrailStream } from './guardrail-record.events.js';
import { PurgeGuardrailRecords } from './purge-guardrail-records.js';

const DAY_MS = 86_400_000;
const settings = { enabled: true, checks: new Set<never>(), floor: undefined, judgeModelId: undefined, retentionMs: 30 * DAY_MS };

it('a record is purged once, 30 days after its last change', async () => {
  let now = new Date('2026-01-01T00:00:00Z');
  const clock = { now: () => now };
  const store = new InMemoryEventStore(clock);
  const commands = commandsOver(
    new RecordGuardrailDecisionsHandler(new Streams(store, systemTiming), clock),
    new PurgeGuardrailRecordHandler(new Streams(store, systemTiming)),
  );
  const subject = { recordId: 'm1', ownerId: 'ann', agentId: null, messageId: 'm1', requestId: null };
  const decision: GuardrailDecision = {
    ...{ stage: 'input', check: 'pii', detector: 'pattern', action: 'flag', outcome: 'triggered' },
    ...{ category: 'EMAIL', score: null, matchCount: 1 },
  };
  await commands.execute(new RecordGuardrailDecisions(subject, [decision], cause));
  const asked: Date[] = [];
  const due = [{ id: 'm1', since: now }];
  const queries = {
    recordedBefore: (before: Date) => Promise.resolve((asked.push(before), due)),
  } as unknown as GuardrailEventQueries;
  const rule = new PurgeGuardrailRecords(queries, commands, clock, new GuardrailOptions(settings));
  const typesAfter = async (days: number) => {
    now = new Date(Date.UTC(2026, 0, 1) + days * DAY_MS + 1);
    await rule.purge(await rule.due(now, 9), cause);
    return (await eventsOf(store.read(guardrailStream('m1')))).map(({ type }) => type);
  };
  expect(await typesAfter(29)).toEqual(['GuardrailDecisionsRecorded']);
  expect(await typesAfter(30)).toEqual(['GuardrailDecisionsRecorded', 'GuardrailRecordPurged']);
  expect(await typesAfter(31)).toHaveLength(2);
  expect(asked[0]).toEqual(new Date(Date.UTC(2025, 11, 31) + 1));
});
