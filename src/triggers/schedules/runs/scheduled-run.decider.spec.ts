import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { given } from '../../../../test/support/given.js';
import {
  appendScheduledRun,
  purgeOutput,
  queueScheduledRun,
  reportScheduledRun,
  scheduledRun,
  startScheduledRun,
} from './scheduled-run.decider.js';
import type { ScheduledRunEvent } from './scheduled-run.events.js';

const runId = 'r1';
const now = new Date('2026-04-01T00:00:00.000Z');
const startedAt = '2026-01-01T09:00:01.000Z';
const message = { conversationId: 'c1', messageId: 'm1' };
const report = { output: 'Hello.', isOutputTruncated: false, error: null, promptTokens: 7, generatedTokens: 2 };

const queued: ScheduledRunEvent = { type: 'ScheduledRunQueued', data: { runId, scheduleId: 's1', ownerId: 'ann' } };
const started: ScheduledRunEvent = { type: 'ScheduledRunStarted', data: { runId, startedAt } };
const reported: ScheduledRunEvent = { type: 'ScheduledRunReported', data: { runId, report } };
const appended: ScheduledRunEvent = { type: 'ScheduledRunAppended', data: { runId, ...message } };
const left = { runId, scheduleId: 's1', ownerId: 'ann', promptTokens: 7, generatedTokens: 2, purgedAt: now.toISOString() };
const purged: ScheduledRunEvent = { type: 'ScheduledRunOutputPurged', data: { ...left, startedAt, message } };

describe('a scheduled run', () => {
  const steps = [
    [startScheduledRun({ runId, startedAt }), started],
    [reportScheduledRun({ runId, report }), reported],
    [appendScheduledRun(runId, message), appended],
  ] as const;

  it('is queued, starts, reports and is added to its chat', () => {
    const past: ScheduledRunEvent[] = [queued];
    given(scheduledRun, [])
      .when(queueScheduledRun({ runId, scheduleId: 's1', ownerId: 'ann' }))
      .then([queued]);
    for (const [decision, event] of steps) {
      given(scheduledRun, past).when(decision).then([event]);
      past.push(event);
    }
  });
  it('that no schedule has queued is not recorded', () => {
    for (const [decision] of steps) given(scheduledRun, []).when(decision).thenNothing();
  });
  it('does not start after it has reported', () =>
    given(scheduledRun, [queued, reported]).when(startScheduledRun({ runId, startedAt })).thenNothing());
});

describe('the output of a scheduled run', () => {
  it('is purged once, and the times and usage are kept', () => {
    given(scheduledRun, [queued, started, reported, appended]).when(purgeOutput(runId, now)).then([purged]);
    given(scheduledRun, [queued, reported])
      .when(purgeOutput(runId, now))
      .then([{ type: 'ScheduledRunOutputPurged', data: { ...left, startedAt: null } }]);
    given(scheduledRun, [queued, started, reported, appended, purged]).when(purgeOutput(runId, now)).thenNothing();
  });
  it('cannot be purged before the run has reported', () => {
    for (const past of [[], [queued], [queued, started]]) given(scheduledRun, past).when(purgeOutput(runId, now)).thenNothing();
  });
  it('is not recorded again after the purge', () => {
    const decisions = [
      queueScheduledRun({ runId, scheduleId: 's1', ownerId: 'ann' }),
      startScheduledRun({ runId, startedAt }),
      reportScheduledRun({ runId, report }),
      appendScheduledRun(runId, message),
      purgeOutput(runId, now),
    ];
    for (const decision of decisions) given(scheduledRun, [purged]).when(decision).thenNothing();
  });
});

it('a scheduled run records each fact once, in any order of commands', () => {
  const decisions = {
    queue: queueScheduledRun({ runId, scheduleId: 's1', ownerId: 'ann' }),
    start: startScheduledRun({ runId, startedAt }),
    report: reportScheduledRun({ runId, report }),
    append: appendScheduledRun(runId, message),
    purge: purgeOutput(runId, now),
  };
  const names = Object.keys(decisions) as (keyof typeof decisions)[];
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...names), { maxLength: 20 }), (asked) => {
      let state = scheduledRun.initial;
      const types: string[] = [];
      for (const name of asked) {
        const events = decisions[name](state);
        state = events.reduce(scheduledRun.evolve, state);
        expect(decisions[name](state)).toEqual([]);
        types.push(...events.map(({ type }) => type));
      }
      expect(new Set(types).size).toBe(types.length);
      const purgedFrom = types.indexOf('ScheduledRunOutputPurged');
      if (purgedFrom >= 0) expect(types.slice(0, purgedFrom)).toContain('ScheduledRunReported');
    }),
  );
});
