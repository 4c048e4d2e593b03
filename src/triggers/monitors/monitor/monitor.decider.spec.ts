import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { eventsUnlessRejected, given } from '../../../../test/support/given.js';
import {
  about,
  at,
  checked,
  created,
  iso,
  LEASE_MS,
  MINUTE_MS,
  other,
  paused,
  requested,
  rules,
  seen,
  started,
} from '../../../../test/support/monitor-events.js';
import { type CheckResult, type CheckRules, reportCheck } from './check-report.decider.js';
import { attend, cancel, cancelWith, create, HOUR_MS, type Monitor, monitor, pause, resume } from './monitor.decider.js';
import type { MonitorEvent } from './monitor.events.js';

const match: CheckResult = { outcome: 'matched', seen: other, text: 'Now 2', usage: null };
const away: CheckResult = { outcome: 'unreachable', error: 'Away.', usage: null };
const unfit: CheckResult = { outcome: 'failed', error: 'No list.', isFinal: false, usage: null };
/** The events that a report adds after the check itself. */
const after = (
  past: readonly MonitorEvent[],
  look: CheckResult,
  check: number,
  minutes: number,
  more: Partial<CheckRules> = {},
) => {
  const state = past.reduce<Monitor>(monitor.evolve, monitor.initial);
  const [first, ...rest] = reportCheck(check, look, { ...rules, ...more }, at(minutes))(state);
  expect(first?.type).toBe('MonitorChecked');
  return rest;
};

describe('a monitor', () => {
  it('is created once', () => {
    const { data } = created() as Extract<MonitorEvent, { type: 'MonitorCreated' }>;
    given(monitor, []).when(create(data)).then([created()]);
    given(monitor, [created()]).when(create(data)).thenNothing();
  });

  it('is checked when it is due, by the first process that claims the check', () => {
    given(monitor, [created()])
      .when(attend(at(14), LEASE_MS))
      .thenNothing();
    given(monitor, [created()])
      .when(attend(at(15), LEASE_MS))
      .then([started(1, 15)]);
    given(monitor, [created(), started(1, 15)])
      .when(attend(at(17), LEASE_MS))
      .thenNothing();
  });

  it('is checked again after a claim has expired, and a late result is not recorded', () => {
    const past = [created(), started(1, 15)];
    given(monitor, past)
      .when(attend(at(18), LEASE_MS))
      .then([started(2, 18)]);
    given(monitor, [...past, started(2, 18)])
      .when(reportCheck(1, match, rules, at(19)))
      .thenNothing();
  });

  it('ends when it expires, but not during a check, whose match still counts', () => {
    const last = [created({ expiresAt: iso(16) }), started(1, 15)];
    given(monitor, last)
      .when(attend(at(17), LEASE_MS))
      .thenNothing();
    expect(after(last, match, 1, 17)).toEqual([requested(1, 17)]);
    const ended: MonitorEvent = {
      type: 'MonitorCompleted',
      data: { ...about, reason: 'expired', isNews: true, completedAt: iso(18) },
    };
    given(monitor, last)
      .when(attend(at(18), LEASE_MS))
      .then([ended]);
  });

  it('is not checked again sooner than an interval after a check during which the clock was set back', () => {
    const state = [created(), started(1, 15)].reduce<Monitor>(monitor.evolve, monitor.initial);
    const inTime = reportCheck(1, match, rules, at(15))(state);
    expect(reportCheck(1, match, rules, at(1))(state)).toEqual(inTime);
  });

  it('records what was seen only if it changed', () => {
    const state = [created(), started(1, 15)].reduce<Monitor>(monitor.evolve, monitor.initial);
    const report = (look: CheckResult) => reportCheck(1, look, rules, at(15))(state)[0]?.data;
    expect(report({ outcome: 'unchanged', seen, usage: null })).not.toHaveProperty('seen');
    expect(report({ outcome: 'changed', seen: other, usage: null })).toMatchObject({ outcome: 'changed', seen: other });
  });

  it('counts failures of the judge, which other failures leave alone and a result ends', () => {
    const report = (look: CheckResult, check: number) => (state: Monitor) =>
      reportCheck(check, look, rules, at(15 * check))(state).reduce<Monitor>(monitor.evolve, state);
    const unjudged: CheckResult = { outcome: 'unjudged', error: 'No answer.', usage: null };
    const looks: CheckResult[] = [unjudged, unjudged, away, unfit, { outcome: 'unchanged', seen, usage: null }];
    let state = monitor.evolve(monitor.initial, created());
    const failures = looks.map((look, index) => {
      state = report(look, index + 1)(monitor.evolve(state, started(index + 1, 15 * (index + 1))));
      return state.judgeFailures;
    });
    expect(failures).toEqual([1, 2, 2, 2, 0]);
  });

  it('has the time of the last check that saw something new', () => {
    const past: MonitorEvent[] = [created(), started(1, 15), checked(1, 15, { outcome: 'matched' }), started(2, 30)];
    const state = past.reduce<Monitor>(monitor.evolve, monitor.initial);
    const after30 = (look: CheckResult) => reportCheck(2, look, rules, at(30))(state).reduce<Monitor>(monitor.evolve, state);
    expect(after30({ outcome: 'unchanged', seen, usage: null })).toMatchObject({
      lastCheckedAt: iso(30),
      lastChangedAt: iso(15),
    });
    expect(after30({ outcome: 'changed', seen, usage: null })).toMatchObject({ lastCheckedAt: iso(30), lastChangedAt: iso(30) });
  });

  it('requests a follow-up on a match, and completes with its last follow-up', () => {
    const past = [created(), started(1, 15)];
    expect(after(past, match, 1, 15)).toEqual([requested(1, 15)]);
    const second = [...past, checked(1, 15), requested(1, 15), started(2, 30)];
    const over = { ...about, reason: 'follow_ups_used', isNews: false, completedAt: iso(30) } as const;
    expect(after(second, match, 2, 30)).toEqual([requested(2, 30), { type: 'MonitorCompleted', data: over }]);
  });

  it('pauses itself instead of exceeding the follow-ups per hour', () => {
    const past = [created({ followUpsMax: 20 }), started(1, 15), checked(1, 15), requested(1, 15), started(2, 30)];
    expect(after(past, match, 2, 30, { followUpsPerHourMax: 1 })).toEqual([
      paused(expect.stringMatching(/1 times within an hour/) as never, 30),
    ]);
    const later = [...past, checked(2, 30), started(3, 75)];
    expect(after(later, match, 3, 75, { followUpsPerHourMax: 1 })).toEqual([requested(2, 75)]);
  });

  it('pauses itself if its source is unreachable for too long without interruption', () => {
    const gone = (check: number, minutes: number) => [
      started(check, minutes),
      checked(check, minutes, { outcome: 'unreachable' }),
    ];
    const past = [created(), ...gone(1, 15), ...gone(2, 45)];
    expect(after([...past, started(3, 74)], away, 3, 74)).toEqual([]);
    expect(after([...past, started(3, 75)], away, 3, 75)).toEqual([
      paused(expect.stringMatching(/60 minutes. Away\./) as never, 75),
    ]);
    expect(after([...past, started(3, 60), checked(3, 60), started(4, 75)], away, 4, 75)).toEqual([]);
  });

  it('pauses itself after too many failures in a row, or after one that is final', () => {
    const failed = (check: number, minutes: number) => [started(check, minutes), checked(check, minutes, { outcome: 'failed' })];
    const past = [created(), ...failed(1, 15), started(2, 30)];
    expect(after(past, unfit, 2, 30)).toEqual([]);
    expect(after(past, unfit, 2, 30, { failuresMax: 2 })).toEqual([
      paused(expect.stringMatching(/2 times in a row. No list/) as never, 30),
    ]);
    expect(after(past, unfit, 2, 30, { failuresMax: 0 })).toEqual([]);
    expect(after(past, { ...unfit, isFinal: true }, 2, 30)).toEqual([paused('No list.', 30)]);
  });

  it('pauses itself when the tokens for judging are used up, and gets new ones when it is resumed', () => {
    const usage = { promptTokens: 60, completionTokens: 0 };
    const judged: CheckResult = { outcome: 'changed', seen: other, usage };
    const past = [created(), started(1, 15), checked(1, 15, { usage }), started(2, 30)];
    expect(after(past, judged, 2, 30)).toEqual([paused(expect.stringMatching(/used 120 tokens, of 100/) as never, 30)]);
    expect(after(past, judged, 2, 30, { judgeTokensMax: 0 })).toEqual([]);
    const resumed: MonitorEvent = { type: 'MonitorResumed', data: { ...about, resumedAt: iso(20), nextCheckAt: iso(20) } };
    const anew = [...past.slice(0, 3), paused(null, 16), resumed, started(2, 20)];
    expect(after(anew, judged, 2, 20)).toEqual([]);
  });

  it('expires, with a notice only if it was active and had no follow-up before', () => {
    const ended = (isNews: boolean): MonitorEvent => ({
      type: 'MonitorCompleted',
      data: { ...about, reason: 'expired', isNews, completedAt: iso(600) },
    });
    given(monitor, [created()])
      .when(attend(at(600), LEASE_MS))
      .then([ended(true)]);
    given(monitor, [created(), paused(null, 20)])
      .when(attend(at(600), LEASE_MS))
      .then([ended(false)]);
    given(monitor, [created(), started(1, 15), checked(1, 15), requested(1, 15)])
      .when(attend(at(600), LEASE_MS))
      .then([ended(false)]);
    given(monitor, [created(), ended(true)])
      .when(attend(at(700), LEASE_MS))
      .thenNothing();
  });
});

it('repeating a decision changes nothing, and no monitor exceeds its limits of follow-ups', () => {
  const usage = { promptTokens: 30, completionTokens: 0 };
  const looks = fc.constantFrom<CheckResult>(
    match,
    match,
    away,
    unfit,
    { outcome: 'unjudged', error: 'No.', usage },
    { outcome: 'unchanged', seen, usage },
  );
  type Step = Readonly<{ afterMinutes: number; decide: (now: Date) => (state: Monitor) => readonly MonitorEvent[] }>;
  const step = fc.tuple(
    fc.nat(20),
    fc.oneof(
      { weight: 5, arbitrary: fc.constant((now: Date) => attend(now, LEASE_MS)) },
      {
        weight: 5,
        arbitrary: looks.map((look) => (now: Date) => (state: Monitor) => reportCheck(state.checks, look, rules, now)(state)),
      },
      fc.constant((now: Date) => pause('ann', now)),
      { weight: 2, arbitrary: fc.constant((now: Date) => resume('ann', now)) },
      {
        weight: 1,
        arbitrary: fc.constantFrom(
          (now: Date) => cancel('ann', now),
          (now: Date) => cancelWith('agent', now),
        ),
      },
    ),
  );
  const steps = fc.array(
    step.map(([afterMinutes, decide]): Step => ({ afterMinutes, decide })),
    { maxLength: 60 },
  );
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 12 }), steps, (followUpsMax, chosen) => {
      let state = monitor.evolve(monitor.initial, created({ followUpsMax }));
      const followUps: number[] = [];
      let minutes = 0;
      for (const { afterMinutes, decide } of chosen) {
        minutes += afterMinutes;
        const before = state.status;
        const events = eventsUnlessRejected(decide(at(minutes)), state);
        if (!events) continue;
        if (before === 'completed' || before === 'cancelled') expect(events).toEqual([]);
        followUps.push(...events.flatMap(({ type }) => (type === 'MonitorFollowUpRequested' ? minutes * MINUTE_MS : [])));
        state = events.reduce(monitor.evolve, state);
        expect(decide(at(minutes))(state)).toEqual([]);
      }
      expect(followUps.length).toBeLessThanOrEqual(followUpsMax);
      for (const followUp of followUps) {
        expect(followUps.filter((each) => each >= followUp && each - followUp < HOUR_MS).length).toBeLessThanOrEqual(
          rules.followUpsPerHourMax,
        );
      }
    }),
    { numRuns: 300 },
  );
});
