import type { Decision } from '../../../kernel/event-sourcing/decider.js';
import { aboutMonitor, checkAfter, type Monitor, monitor, paused, withinAnHour } from './monitor.decider.js';
import type { MonitorChecked, MonitorEvent, Seen } from './monitor.events.js';
import { cutText } from '../../../kernel/cut-text.js';

/** The result of a check. `isFinal`: later checks would fail as well. */
export type CheckResult = Readonly<
  (
    | { outcome: 'unchanged'; seen: Seen | null }
    | { outcome: 'changed'; seen: Seen }
    | { outcome: 'matched'; seen: Seen; text: string }
    | { outcome: 'unjudged'; error: string }
    | { outcome: 'unreachable'; error: string }
    | { outcome: 'failed'; error: string; isFinal: boolean }
  ) & { usage: MonitorChecked['data']['usage'] }
>;

/** The limits at which a monitor pauses itself. */
export type CheckRules = Readonly<{
  followUpsPerHourMax: number;
  unreachableGraceMs: number;
  /** Maximum number of failures in a row; 0 means no limit. */
  failuresMax: number;
  /** Maximum number of tokens for judging between two resumptions; 0 means no limit. */
  judgeTokensMax: number;
}>;

const ERROR_CHARACTERS_MAX = 500;

/**
 * Records the result of a check and its consequences, unless another process has taken the check over or the monitor was stopped.
 */
export const reportCheck =
  (check: number, look: CheckResult, rules: CheckRules, now: Date): Decision<Monitor, MonitorEvent> =>
  (state) => {
    if (state.openCheck?.check !== check) return [];
    // The clock may have been set back during the check.
    const startedAt = new Date(state.openCheck.startedAt);
    const endedAt = now > startedAt ? now : startedAt;
    const report = reported(state, check, look, endedAt);
    const after = monitor.evolve(state, report);
    if (look.outcome === 'matched') return [report, ...matched(after, look.text, rules, endedAt)];
    const reason = pauseReason(after, look, rules, endedAt);
    return reason === null ? [report] : [report, paused(after, reason, endedAt)];
  };

function reported(state: Monitor, check: number, look: CheckResult, now: Date): MonitorChecked {
  const seen = 'seen' in look ? look.seen : null;
  return {
    type: 'MonitorChecked',
    data: {
      monitorId: state.id,
      check,
      outcome: look.outcome,
      ...(seen && !isSame(seen, state.seen) && { seen }),
      error: 'error' in look ? cutText(look.error, ERROR_CHARACTERS_MAX) : null,
      usage: look.usage,
      judgeFailures: look.outcome === 'unjudged' ? state.judgeFailures + 1 : 'error' in look ? state.judgeFailures : 0,
      checkedAt: now.toISOString(),
      nextCheckAt: checkAfter(state, now),
    },
  };
}

const isSame = (one: Seen, other: Seen): boolean =>
  one.hash === other.hash &&
  one.holds === other.holds &&
  one.gist === other.gist &&
  one.items.length === other.items.length &&
  one.items.every((item, index) => item === other.items[index]);

function matched(state: Monitor, text: string, { followUpsPerHourMax }: CheckRules, now: Date): readonly MonitorEvent[] {
  const requestedAt = now.toISOString();
  if (withinAnHour(state.requestedAt, requestedAt).length >= followUpsPerHourMax) {
    return [
      paused(state, `It matched again, after it had continued this chat ${followUpsPerHourMax} times within an hour.`, now),
    ];
  }
  const about = aboutMonitor(state);
  const followUp = state.followUps + 1;
  const requested: MonitorEvent = { type: 'MonitorFollowUpRequested', data: { ...about, followUp, text, requestedAt } };
  if (followUp < state.definition.followUpsMax) return [requested];
  return [
    requested,
    { type: 'MonitorCompleted', data: { ...about, reason: 'follow_ups_used', isNews: false, completedAt: requestedAt } },
  ];
}

function pauseReason(after: Monitor, look: CheckResult, rules: CheckRules, now: Date): string | null {
  const { unreachableGraceMs, failuresMax, judgeTokensMax } = rules;
  if (look.outcome === 'unreachable' && after.unreachableSince !== null) {
    const forMs = now.getTime() - Date.parse(after.unreachableSince);
    if (forMs >= unreachableGraceMs) return `It could not be reached for ${minutes(forMs)}. ${look.error}`;
  }
  if (look.outcome === 'failed') {
    if (look.isFinal) return look.error;
    if (failuresMax > 0 && after.failuresInARow >= failuresMax) {
      return `It could not be checked ${after.failuresInARow} times in a row. ${look.error}`;
    }
  }
  if (judgeTokensMax > 0 && after.judgeTokens >= judgeTokensMax) {
    return `Judging its condition has used ${after.judgeTokens} tokens, of ${judgeTokensMax}.`;
  }
  return null;
}

const minutes = (ms: number): string => `${Math.round(ms / 60_000)} minutes`;
