import { beforeEach, describe, expect, it } from '@jest/globals';
import type { Command, Commands } from '../../kernel/commands.js';
import { InMemoryBlobs } from '../../../test/support/in-memory-blobs.js';
import { InMemoryEventStore } from '../../../test/support/in-memory-event-store.js';
import { jobStarted } from '../../../test/support/jobs.js';
import { cause } from '../../../test/support/turns.js';
import type { JobQueries, JobRecord } from '../../../projections/jobs/jobs.queries.js';
import type { UnsealedTurnQueries } from '../../../projections/unsealed-turns/unsealed-turns.queries.js';
import { Streams } from '../../kernel/event-sourcing/streams.js';
import { InProcessKeyValue } from '../../platform/messaging/key-value/in-process-key-value.js';
import type { FollowUp } from '../follow-ups/follow-ups.port.js';
import { PurgeJob, PurgeJobHandler } from './job.commands.js';
import { endJob, job, startJob } from './job.decider.js';
import { jobStream } from './job.events.js';
import { jobLease } from './job.policy.js';
import { keepResult, keptResult } from './job-result.js';
import { ReportLostJobs } from './report-lost-jobs.ticker.js';
import { REPORTS_PER_TICK_MAX, RequestJobFollowUps } from './request-job-follow-ups.ticker.js';
import { systemTiming } from '../../platform/system-timing.js';

const now = new Date('2026-01-01T00:05:00Z');
let store: InMemoryEventStore;
let blobs: InMemoryBlobs;
let sent: Command[];
let commands: Commands;

beforeEach(() => {
  store = new InMemoryEventStore();
  blobs = new InMemoryBlobs();
  sent = [];
  commands = { execute: async (command: Command) => void sent.push(command) } as unknown as Commands;
});

const record = (more: Partial<JobRecord>) =>
  ({ jobId: 'j1', ownerId: 'alice', conversationId: 'c1', toolName: 'api_tool', actionName: 'build', ...more }) as JobRecord;

/** Appends the start of each job. Returns the ids of the events. */
const started = (...jobIds: readonly string[]) =>
  Promise.all(
    jobIds.map(async (jobId) => {
      const streams = new Streams(store, systemTiming);
      const { ids } = await streams.transact(jobStream(jobId), job, startJob(jobStarted({ jobId }).data), cause);
      return ids[0]!;
    }),
  );

describe('the purge of a job', () => {
  it('happens when the job is old enough, and deletes its result', async () => {
    const streams = new Streams(store, systemTiming);
    const result = await keepResult(blobs, 'j1', { rows: 7 });
    await streams.transact(jobStream('j1'), job, startJob(jobStarted().data), cause);
    await streams.transact(jobStream('j1'), job, endJob({ type: 'completed', result }, now), cause);
    const handler = new PurgeJobHandler(streams, blobs);
    await handler.execute(new PurgeJob('j1', now, cause));
    expect(await keptResult(blobs, result)).toEqual({ value: { rows: 7 } });
    await handler.execute(new PurgeJob('j1', new Date(now.getTime() + 1), cause));
    expect(await keptResult(blobs, result)).toBeUndefined();
    expect((await streams.fold(jobStream('j1'), job)).state.purged).toBe(true);
  });
});

describe('a job without a lease', () => {
  it('is recorded as lost after two consecutive checks', async () => {
    const keyValue = new InProcessKeyValue();
    const jobs = { working: async () => [record({ jobId: 'j1' }), record({ jobId: 'j2' })] } as unknown as JobQueries;
    const ticker = new ReportLostJobs(jobs, keyValue, commands, store);
    const [startedId] = await started('j1', 'j2');
    await keyValue.put(jobLease('j2'), '{}');
    await ticker.tick();
    expect(sent).toEqual([]);
    await ticker.tick();
    const causes = { correlationId: cause.correlationId, causationId: startedId };
    expect(sent).toMatchObject([{ jobId: 'j1', cause: { actor: 'system:report-lost-jobs', ...causes } }]);
    await keyValue.put(jobLease('j1'), '{}');
    await ticker.tick();
    expect(sent).toHaveLength(1);
  });
});

describe('a conversation whose job has ended', () => {
  const ticking = async (
    unreported: readonly JobRecord[],
    busy: readonly string[],
    followUp: (followUp: FollowUp) => Promise<boolean>,
    ticks = 1,
  ) => {
    const startedIds = await started(...unreported.map(({ jobId }) => jobId));
    const page = (limit: number, after?: JobRecord) => {
      const from = after ? unreported.indexOf(after) + 1 : 0;
      return Promise.resolve(unreported.slice(from, from + limit));
    };
    const jobs = { unreported: page } as unknown as JobQueries;
    const turns = { conversationsUnderWay: async () => new Set(busy) } as unknown as UnsealedTurnQueries;
    const ticker = new RequestJobFollowUps(jobs, turns, blobs, { request: followUp }, commands, store);
    while (ticks-- > 1) await ticker.tick().catch(() => undefined);
    await ticker.tick();
    return startedIds;
  };

  it('gets a follow-up with the result, unless a turn is running', async () => {
    const result = await keepResult(blobs, 'j1', { rows: 7 });
    const requested: FollowUp[] = [];
    const free = record({ status: 'completed', result });
    const busy = record({ jobId: 'j2', conversationId: 'c2', status: 'completed', result });
    const lost = record({ jobId: 'j3', conversationId: 'c3', status: 'lost', result: null });
    const [startedId] = await ticking([free, busy, lost], ['c2'], async (followUp) => requested.push(followUp) > 0);
    expect(requested).toMatchObject([
      { conversationId: 'c1', ownerId: 'alice', source: 'job', refId: 'j1', dedupeKey: 'job:j1' },
      { conversationId: 'c3', source: 'lost', refId: 'j3' },
    ]);
    expect(requested[0]!.text).toContain('{"rows":7}');
    expect(requested[1]!.text).toContain('not repeated');
    expect(sent).toMatchObject([
      { jobId: 'j1', by: 'follow-up', cause: { correlationId: cause.correlationId, causationId: startedId } },
      { jobId: 'j3', by: 'follow-up' },
    ]);
  });

  it('is found although many others are busy, and each tick reports at most REPORTS_PER_TICK_MAX jobs', async () => {
    const ended = (conversationId: string) => (_: unknown, index: number) =>
      record({ jobId: `${conversationId}-${index}`, conversationId, status: 'lost', result: null });
    const busy = Array.from({ length: 3 * REPORTS_PER_TICK_MAX }, ended('busy'));
    const free = Array.from({ length: REPORTS_PER_TICK_MAX + 1 }, ended('free'));
    const requested: string[] = [];
    await ticking([...busy, ...free], ['busy'], async ({ refId }) => requested.push(refId) > 0);
    expect(requested).toEqual(free.slice(0, -1).map(({ jobId }) => jobId));
  });

  it('gets no report if it is deleted, and one that fails does not block the others', async () => {
    const jobs = ['c1', 'c2', 'c3'].map((conversationId) =>
      record({ jobId: conversationId, conversationId, status: 'lost', result: null }),
    );
    const ticked = ticking(jobs, [], async ({ conversationId }) => {
      if (conversationId === 'c2') throw new Error('away');
      return conversationId !== 'c1';
    });
    await expect(ticked).rejects.toThrow('away');
    expect(sent).toMatchObject([
      { jobId: 'c1', by: 'none' },
      { jobId: 'c3', by: 'follow-up' },
    ]);
  });

  it('gets its report before REPORTS_PER_TICK_MAX earlier ones that failed', async () => {
    const ended = (jobId: string) => record({ jobId, status: 'lost', result: null });
    const poisoned = Array.from({ length: REPORTS_PER_TICK_MAX }, (_, index) => ended(`poisoned-${index}`));
    const tried: string[] = [];
    const follow = async ({ refId }: FollowUp) => {
      tried.push(refId);
      if (refId !== 'j1') throw new Error('poisoned');
      return true;
    };
    await expect(ticking([...poisoned, ended('j1')], [], follow, 2)).rejects.toThrow('poisoned');
    expect(sent).toMatchObject([{ jobId: 'j1' }]);
    expect(tried[REPORTS_PER_TICK_MAX]).toBe('j1');
  });
});
