import { Rejection } from '../../kernel/rejection.js';

/** The sliding window of an agent's limits. */
export const WINDOW_MS = 24 * 60 * 60 * 1000;

const DAY_MS = 24 * 60 * 60 * 1000;

/** The calendar period of quotas, in UTC. A week starts on Monday. */
export type QuotaPeriod = 'day' | 'week' | 'month';

/** The usage of a period: requests, and the tokens of their turns. */
export type Used = Readonly<{ requests: number; tokens: number }>;
/** `agent` is the usage with agents, `direct` the usage without. */
export type UsedOfOwner = Readonly<{ direct: Used; agent: Used }>;

/** A period from `start` (inclusive) to `end` (exclusive). */
export type Period = Readonly<{ start: Date; end: Date }>;

export function periodAt(now: Date, period: QuotaPeriod): Period {
  const [year, month, day] = [now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate()];
  if (period === 'month') return { start: new Date(Date.UTC(year, month)), end: new Date(Date.UTC(year, month + 1)) };
  const days = period === 'day' ? { before: 0, long: 1 } : { before: (now.getUTCDay() + 6) % 7, long: 7 };
  const start = Date.UTC(year, month, day - days.before);
  return { start: new Date(start), end: new Date(start + days.long * DAY_MS) };
}

/** The whole seconds until a time, at least one. */
export const secondsUntil = (then: Date, now: Date): number => Math.max(1, Math.ceil((then.getTime() - now.getTime()) / 1000));

/** The units of an agent's limits. */
export type Unit = 'requests' | 'tokens';

export const limitExceeded = (retryAfterSeconds: number): Rejection =>
  new Rejection('usage-limit', 'Exceeding usage limit, please try again later.', undefined, retryAfterSeconds);

/** The tokens that a user has used in a period, and the limit. */
export type QuotaStatus = Readonly<{ used: number; limit: number; resetsAt: Date }>;

const inThousands = (count: number): string => count.toLocaleString('en-US');

export const quotaText = ({ used, limit, resetsAt }: QuotaStatus): string =>
  `The usage quota is used up: ${inThousands(used)} of ${inThousands(limit)} tokens. It is renewed at ${resetsAt.toISOString()}.`;

/** Whether a quota is used up. The request that crosses the limit is still answered. */
export const isUsedUp = ({ used, limit }: QuotaStatus): boolean => used >= limit;

export function quotaExceeded(status: QuotaStatus, now: Date): Rejection {
  const { used, limit, resetsAt } = status;
  const details = {
    error_code: 'quota_exceeded',
    limit_scope: 'user_quota',
    dimension: 'tokens',
    unit: 'tokens',
    usage: used,
    limit,
    bucket: 'all',
    source: 'instance',
    resets_at: resetsAt.toISOString(),
  };
  return new Rejection('quota-exceeded', quotaText(status), details, secondsUntil(resetsAt, now));
}
