import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { eventsUnlessRejected, given } from '../../../test/support/given.js';
import { jobStarted } from '../../../test/support/jobs.js';
import {
  endJob,
  purgeJob,
  type Job,
  job,
  type JobEnding,
  progressJob,
  requestCancel,
  startJob,
  reportJob,
} from './job.decider.js';
import type { JobEvent } from './job.events.js';

const now = new Date('2026-01-01T00:05:00.000Z');
const later = new Date('2026-01-08T00:05:00.001Z');
const started = jobStarted();
const about = { jobId: 'j1', conversationId: 'c0', ownerId: 'alice' };
const result = { sha256: 'a'.repeat(64), size: 7 };
const end = { ...about, endedAt: now.toISOString() };
const completed: JobEvent = { type: 'JobCompleted', data: { ...end, result } };
const asked: JobEvent = { type: 'JobCancelRequested', data: { ...about, reason: 'by-owner' } };
const reported: JobEvent = { type: 'JobReported', data: { ...about, by: 'follow-up' } };
const purged: JobEvent = { type: 'JobPurged', data: about };

const ENDINGS: readonly (readonly [JobEnding, JobEvent])[] = [
  [{ type: 'completed', result }, completed],
  [
    { type: 'failed', error: 'Broken.', reason: 'tool' },
    { type: 'JobFailed', data: { ...end, error: 'Broken.', reason: 'tool' } },
  ],
  [{ type: 'cancelled' }, { type: 'JobCancelled', data: end }],
  [{ type: 'lost' }, { type: 'JobLost', data: end }],
];

describe('a tool call', () => {
  it('becomes a job once', () => {
    given(job, []).when(startJob(started.data)).then([started]);
    given(job, [started]).when(startJob(started.data)).thenNothing();
  });
  it('cannot become a job of a second process', () =>
    given(job, [started])
      .when(startJob({ ...started.data, runner: 'process-2' }))
      .thenRejected('job-exists'));
});

describe('a running job', () => {
  it.each(ENDINGS)('ends as $type', (ending, event) => given(job, [started]).when(endJob(ending, now)).then([event]));
  it('can be cancelled once, by its owner', () => {
    given(job, [started]).when(requestCancel('alice', 'by-owner')).then([asked]);
    given(job, [started, asked]).when(requestCancel('alice', 'conversation-deleted')).thenNothing();
    given(job, [started]).when(requestCancel('bob', 'by-owner')).thenRejected('job-not-found');
  });
  it('may still complete after a cancellation was requested', () =>
    given(job, [started, asked])
      .when(endJob({ type: 'completed', result }, now))
      .then([completed]));
  it('is neither reported nor purged', () => {
    given(job, [started]).when(reportJob('follow-up')).thenNothing();
    given(job, [started]).when(purgeJob(later)).thenNothing();
  });
});

describe('an ended job', () => {
  it.each(ENDINGS)('does not change with another end: %j', (ending) =>
    given(job, [started, completed]).when(endJob(ending, later)).thenNothing(),
  );
  it('cannot be cancelled', () => given(job, [started, completed]).when(requestCancel('alice', 'by-owner')).thenNothing());
  it('is reported once', () => {
    given(job, [started, completed]).when(reportJob('follow-up')).then([reported]);
    given(job, [started, completed, reported]).when(reportJob('model')).thenNothing();
  });
  it('is purged only if it ended before the given time', () => {
    given(job, [started, completed]).when(purgeJob(now)).thenNothing();
    given(job, [started, completed]).when(purgeJob(later)).then([purged]);
    given(job, [started, completed, purged]).when(purgeJob(later)).thenNothing();
    given(job, [started, completed, purged]).when(requestCancel('alice', 'by-owner')).thenRejected('job-not-found');
  });
});

describe('the progress of a job', () => {
  const progress = { report: { progress: 1, total: 3, message: 'Reading.' }, outputTail: 'Reading.' };
  const { jobId, conversationId, ownerId } = started.data;
  const progressed: JobEvent = { type: 'JobProgressed', data: { jobId, conversationId, ownerId, ...progress } };
  it('is recorded while the job runs, and only if it has changed', () => {
    given(job, [started]).when(progressJob(progress)).then([progressed]);
    given(job, [started, progressed]).when(progressJob(progress)).thenNothing();
    given(job, [started, completed]).when(progressJob(progress)).thenNothing();
    given(job, []).when(progressJob(progress)).thenNothing();
  });
});

describe('a purged job', () => {
  it('is not started again, also if no other event of it is left', () => {
    given(job, [started, completed, purged])
      .when(startJob({ ...started.data, runner: 'process-2' }))
      .thenRejected('job-exists');
    given(job, [purged]).when(startJob(started.data)).thenRejected('job-exists');
  });
  it('has the same state whether its events were truncated or not', () => {
    const state = (events: readonly JobEvent[]) => events.reduce(job.evolve, job.initial);
    expect(state([started, completed, purged])).toEqual(state([purged]));
  });
  it('is not reported', () => given(job, [started, completed, purged]).when(reportJob('follow-up')).thenNothing());
});

describe('a job that was never started', () => {
  it('cannot end, be reported, be purged or be cancelled', () => {
    for (const decision of [endJob({ type: 'lost' }, now), reportJob('follow-up'), purgeJob(later)]) {
      given(job, []).when(decision).thenNothing();
    }
    given(job, []).when(requestCancel('alice', 'by-owner')).thenRejected('job-not-found');
  });
});

it('in any order of decisions a repeated decision adds nothing, and there is at most one end and one report', () => {
  const runner = fc.constantFrom('process-1', 'process-2');
  const decision = fc.oneof(
    runner.map((each) => startJob({ ...started.data, runner: each })),
    fc.constantFrom(...ENDINGS).map(([ending]) => endJob(ending, now)),
    fc.integer({ max: 3 }).map((progress) => progressJob({ report: { progress }, outputTail: null })),
    fc.constantFrom('alice', 'bob').map((each) => requestCancel(each, 'by-owner')),
    fc.constantFrom('model' as const, 'follow-up' as const, 'none' as const).map(reportJob),
    fc.constantFrom(now, later).map(purgeJob),
  );
  fc.assert(
    fc.property(fc.array(decision, { maxLength: 20 }), (decisions) => {
      let state: Job = job.initial;
      const said: JobEvent[] = [];
      for (const decide of decisions) {
        const events = eventsUnlessRejected(decide, state);
        if (!events) continue;
        state = events.reduce(job.evolve, state);
        said.push(...events);
        const again = () => decide(state);
        // A purged job rejects decisions.
        if (!state.purged) expect(again()).toEqual([]);
      }
      const types = said.map(({ type }) => type).filter((type) => type !== 'JobProgressed');
      expect(types.filter((type) => ENDINGS.some(([, event]) => event.type === type)).length).toBeLessThanOrEqual(1);
      expect(new Set(types).size).toBe(types.length);
      const end = types.findIndex((type) => ENDINGS.some(([, event]) => event.type === type));
      const purge = types.indexOf('JobPurged');
      expect([purge >= 0, state.purged, purge < 0 || (end >= 0 && end < purge)]).toEqual([state.purged, purge >= 0, true]);
      expect(state.reportedBy !== null && !state.end).toBe(false);
    }),
    { numRuns: 500 },
  );
});
