import type { SourceQueries } from '../../../projections/sources/sources.queries.js';
import { JobOptions } from '../../../src/background/jobs/job-options.js';
import type { Judge } from '../../../src/triggers/monitors/checks/judge.js';
import type { MonitorRules } from '../../../src/triggers/monitors/monitor/monitor-rules.js';
import type { Patterns } from '../../../src/triggers/monitors/patterns/patterns.port.js';
import type { ScheduleRules } from '../../../src/triggers/schedules/schedule/schedule-rules.js';
import type { WebPages } from '../../../src/resources/tools/web/web-pages.port.js';

export const MESSAGE_RETENTION_SECONDS = 14 * 86_400;

/**
 * Short times, because simulated time is costly. The run limit is long, so that a run is never given up, however different the
 * clocks are.
 */
export const SCHEDULE_RULES: ScheduleRules = {
  misfireGraceMs: 30_000,
  missedAfterMs: 45_000,
  runLimitMs: 3_600_000,
  runTimeoutMs: 60_000,
  failuresMax: 3,
  cadenceSecondsMin: 0,
  horizonMs: 3_600_000,
  perUserMax: 0,
};

export const MONITOR_RULES: MonitorRules = {
  isEnabled: true,
  intervalSeconds: 1,
  intervalSecondsMin: 1,
  ttlSeconds: 10,
  ttlSecondsMax: 3_600,
  followUps: 2,
  followUpsMax: 5,
  followUpsPerHourMax: 10,
  perUserMax: 10,
  unreachableGraceMs: 600_000,
  failuresMax: 3,
  judgeTokensMax: 0,
};

/** A call becomes a job when it takes longer than most. */
export const JOBS = new JobOptions({
  enabled: true,
  yieldMs: 150,
  jobMsMax: 20_000,
  staleMs: 2_000,
  perConversationMax: 4,
  perUserMax: 4,
  perProcessMax: 8,
  autoResume: true,
  retentionMs: 86_400_000,
  shutdownMs: 1_000,
});

/** Monitors of the simulation check with a tool, without judges or patterns. */
export const NO_PAGES = {} as WebPages;
export const NO_SOURCES = {} as SourceQueries;
export const NO_PATTERNS = {} as Patterns;
export const NO_JUDGE = {} as Judge;
