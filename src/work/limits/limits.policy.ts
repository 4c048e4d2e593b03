import { Rejection } from '../../kernel/rejection.js';

/** How far back the limits of an agent look, at any moment. */
export const WINDOW_MS = 24 * 60 * 60 * 1000;

const DAY_MS = 24 * 60 * 60 * 1000;

/** What quotas are measured over: of the UTC calendar; a week begins on Monday. */
export type QuotaPeriod = 'day' | 'week' | 'month';

/** What was used in a period: requests, and the tokens of their turns. */
export type Used = Readonly<{ requests: number; tokens: number }>;
/** `agent`: with an agent; `direct`: without one. */
export type UsedOfOwner = Readonly<{ direct: Used; agent: Used }>;

/** `start` belongs to it, `end` to the next one. */
export type Period = Readonly<{ start: Date; end: Date }>;

export function periodAt(now: Date, period: QuotaPeriod): Period {
  const [year, month, day] = [now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate()];
  if (period === 'month') return { start: new Date(Date.UTC(year, month)), end: new Date(Date.UTC(year, month + 1)) };
  const days = period === 'day' ? { before: 0, long: 1 } : { before: (now.getUTCDay() + 6) % 7, long: 7 };
  const start = Date.UTC(year, month, day - days.before);
  return { start: new Date(start), end: new Date(start + days.long * DAY_MS) };
}

/** Whole seconds after which something that is used up is there again, at least one. */
export const secondsUntil = (then: Date, now: Date): number => Math.max(1, Math.ceil((then.getTime() - now.getTime()) / 1000));

/** What the limits of an agent measure. */
export type Unit = 'requests' | 'tokens';

export const limitExceeded = (retryAfterSeconds: number): Rejection =>
  new Rejection('usage-limit', 'Exceeding usage limit, please try again later.', undefined, retryAfterSeconds);

/** A user's tokens in a period, and how many there may be. */
export type QuotaStatus = Readonly<{ used: number; limit: number; resetsAt: Date }>;

const inThousands = (count: number): string => count.toLocaleString('en-US');

export const quotaText = ({ used, limit, resetsAt }: QuotaStatus): string =>
  `The usage quota is used up: ${inThousands(used)} of ${inThousands(limit)} tokens. It is renewed at ${resetsAt.toISOString()}.`;

/** The request that crosses a quota is still answered; the next one is refused. */
export const isUsedUp = ({ used, limit }: QuotaStatus): boolean => used >= limit;

export function quotaExceeded(status: QuotaStatus, now: Date): Rejection {
  const { used, limit, resetsAt } = status;
  const details = {
    error_code: 'quota-exceeded',
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
