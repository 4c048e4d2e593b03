import { expect, it } from '@jest/globals';
import type { ExpiringQueries } from '../../../../projections/expiring/expiring.queries.js';
import { commandsOver } from '../../../../test/support/commands-over.js';
import { InMemoryBlobs } from '../../../../test/support/in-memory-blobs.js';
import { InMemoryEventStore } from '../../../../test/support/in-memory-event-store.js';
import { answeringOptions, cause, eventsOf } from '../../../../test/support/turns.js';
import { BlobMissing } from '../../../kernel/blobs.js';
import { decode } from '../../../kernel/event-sourcing/codec.js';
import { lastEvent } from '../../../kernel/event-sourcing/event-store.js';
import type { Recorded } from '../../../kernel/event-sourcing/events.js';
import { Streams } from '../../../kernel/event-sourcing/streams.js';
import { systemTiming } from '../../../platform/system-timing.js';
import { Purges } from '../../../work/retention/purges.js';
import { TruncatePurged } from '../../../work/retention/truncate-purged.reaction.js';
import { KeptFindings } from './kept-findings.js';
import { PurgeResearches } from './purge-researches.js';
import { researchCodec } from './research.codec.js';
import { PurgeResearchHandler } from './research.commands.js';
import { NOTHING_USED, recordPlan, recordReport, research } from './research.decider.js';
import { researchPurges } from './research.purges.js';
import { type Findings, type ResearchPurged, researchStream } from './research.events.js';

it('plan and findings of a research, also those in blobs, are purged after the retention of journals, and those of another research are kept', async () => {
  const store = new InMemoryEventStore();
  const blobs = new InMemoryBlobs();
  const streams = new Streams(store, systemTiming);
  const kept = new KeptFindings(blobs);
  const large: Findings = { report: 'x'.repeat(100_000), sources: [], toolCalls: [] };
  const step = { query: 'q1', rationale: '' };
  const done = async (turnId: string) => {
    const stream = researchStream(turnId);
    const plan = { turnId, steps: [step], complexity: 'simple', used: NOTHING_USED } as const;
    await streams.transact(stream, research, recordPlan(plan), cause);
    const findings = await kept.keep(turnId, 1, large);
    await streams.transact(stream, research, recordReport({ turnId, step: 1, findings, used: NOTHING_USED }), cause);
    return findings;
  };
  const [old, young] = [await done('old'), await done('young')];
  const now = new Date('2026-02-01T00:00:00Z');
  const asked: Date[] = [];
  const expiring = {
    researches: async (before: Date) => {
      asked.push(before);
      return [{ id: 'old', since: new Date('2026-01-01T00:00:00Z') }];
    },
  } as unknown as ExpiringQueries;
  const rule = new PurgeResearches(expiring, commandsOver(new PurgeResearchHandler(streams)), answeringOptions);
  const due = await rule.due(now, 10);
  for (const time of ['once', 'again']) await rule.purge(due, { ...cause, causationId: time });
  expect(asked).toEqual([new Date('2026-01-18T00:00:00Z')]);
  const stored = await lastEvent(store, researchStream('old'));
  expect((await eventsOf(store, researchStream('old'))).map(({ type }) => type)).toEqual([
    'ResearchPlanned',
    'ResearchStepReported',
    'ResearchPurged',
  ]);
  const purged = decode<ResearchPurged>(researchCodec, stored!) as Recorded<ResearchPurged>;
  const reaction = new TruncatePurged(store, blobs, new Purges(researchPurges));
  await reaction.on['ResearchPurged']!(purged, new AbortController().signal);
  expect((await eventsOf(store, researchStream('old'))).map(({ type }) => type)).toEqual(['ResearchPurged']);
  await expect(kept.recall(old)).rejects.toThrow(BlobMissing);
  expect(await kept.recall(young)).toEqual(large);
  expect(await eventsOf(store, researchStream('young'))).toHaveLength(2);
});
