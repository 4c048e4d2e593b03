import type { CheckRules } from '../../src/triggers/monitors/monitor/check-report.decider.js';
import type { MonitorDefinition, MonitorEvent, Seen } from '../../src/triggers/monitors/monitor/monitor.events.js';

/** Events of the monitor m1 of ann, at minutes since the start. */
export const MINUTE_MS = 60_000;
const START = Date.parse('2026-01-01T08:00:00Z');
export const at = (minutes: number) => new Date(START + minutes * MINUTE_MS);
export const iso = (minutes: number) => at(minutes).toISOString();
export const LEASE_MS = 3 * MINUTE_MS;
export const about = { monitorId: 'm1', ownerId: 'ann', conversationId: 'c1' };
export const seen: Seen = { hash: 'one', items: [], holds: false, gist: '1' };
export const other: Seen = { ...seen, hash: 'two', gist: '2' };
export const definition: MonitorDefinition = {
  description: 'Price',
  source: { type: 'webpage', url: 'https://shop.example/' },
  check: { type: 'changed' },
  condition: null,
  onMatch: null,
  intervalSeconds: 900,
  followUpsMax: 2,
  expiresAt: iso(600),
};
export const rules: CheckRules = {
  followUpsPerHourMax: 5,
  unreachableGraceMs: 60 * MINUTE_MS,
  failuresMax: 3,
  judgeTokensMax: 100,
};
export const created = (more: Partial<MonitorDefinition> = {}): MonitorEvent => ({
  type: 'MonitorCreated',
  data: { ...about, agentId: null, definition: { ...definition, ...more }, seen, createdAt: iso(0), nextCheckAt: iso(15) },
});
export const started = (check: number, minutes: number): MonitorEvent => ({
  type: 'MonitorCheckStarted',
  data: { monitorId: 'm1', check, startedAt: iso(minutes), leaseUntil: iso(minutes + 3) },
});
type Checked = Extract<MonitorEvent, { type: 'MonitorChecked' }>;
export const checked = (check: number, minutes: number, more: Partial<Checked['data']> = {}): Checked => ({
  type: 'MonitorChecked',
  data: {
    monitorId: 'm1',
    check,
    outcome: 'unchanged',
    error: null,
    usage: null,
    judgeFailures: 0,
    checkedAt: iso(minutes),
    nextCheckAt: iso(minutes + 15),
    ...more,
  },
});
export const requested = (followUp: number, minutes: number): MonitorEvent => ({
  type: 'MonitorFollowUpRequested',
  data: { ...about, followUp, text: 'Now 2', requestedAt: iso(minutes) },
});
export const paused = (reason: string | null, minutes: number, count = 1): MonitorEvent => ({
  type: 'MonitorPaused',
  data: { ...about, pause: count, reason, pausedAt: iso(minutes) },
});
