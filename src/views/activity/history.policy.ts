import { Rejection } from '../../kernel/rejection.js';
import { clampedNumber } from '../../triggers/schedules/schedule/numbers.policy.js';

export const HISTORY_KINDS = ['schedule', 'webhook', 'workflow', 'job', 'monitor'] as const;
export type HistoryKind = (typeof HISTORY_KINDS)[number];

/** How work of any kind ended. `skipped`: it was due and did not run. */
export const HISTORY_STATUSES = ['success', 'failed', 'timeout', 'skipped', 'cancelled'] as const;
export type HistoryStatus = (typeof HISTORY_STATUSES)[number];

export const HISTORY_DAYS = 30;
export const HISTORY_DAYS_MAX = 90;
export const HISTORY_LIMIT = 50;
export const HISTORY_LIMIT_MAX = 200;
/** The maximum offset. Rows of several kinds can only be skipped by reading them. */
export const HISTORY_OFFSET_MAX = 10_000;
/** A longer search text is truncated. */
export const HISTORY_TEXT_CHARACTERS_MAX = 200;

/** The unchecked query of a history. */
export type HistoryRequest = Readonly<Partial<Record<'kind' | 'status' | 'q' | 'days' | 'limit' | 'offset', unknown>>>;

export type HistoryQuestion = Readonly<{
  kinds: readonly HistoryKind[];
  statuses: readonly HistoryStatus[];
  /** A text in the title. Empty: any title. */
  text: string;
  days: number;
  limit: number;
  offset: number;
}>;

/** The checked query. `failed` includes timeouts. @throws Rejection invalid-request */
export function historyQuestion({ kind, status, q, days, limit, offset }: HistoryRequest): HistoryQuestion {
  const chosen = oneOf('status', status, HISTORY_STATUSES);
  return {
    kinds: oneOf('kind', kind, HISTORY_KINDS),
    statuses: status === 'failed' ? ['failed', 'timeout'] : chosen,
    text: typeof q === 'string' ? q.replaceAll('\0', '\uFFFD').slice(0, HISTORY_TEXT_CHARACTERS_MAX).toWellFormed() : '',
    days: clampedNumber(days, { fallback: HISTORY_DAYS, min: 1, max: HISTORY_DAYS_MAX }),
    limit: clampedNumber(limit, { fallback: HISTORY_LIMIT, min: 1, max: HISTORY_LIMIT_MAX }),
    offset: clampedNumber(offset, { fallback: 0, min: 0, max: HISTORY_OFFSET_MAX }),
  };
}

function oneOf<T extends string>(name: string, value: unknown, known: readonly T[]): readonly T[] {
  if (value === undefined || value === '') return known;
  const found = known.filter((each) => each === value);
  if (found.length === 0) throw new Rejection('invalid-request', `${name} must be one of ${known.join(', ')}`);
  return found;
}

/** An item of a list that is sorted by time, the newest first. */
type Timed = Readonly<{ at: Date }>;

/**
 * One page of several sorted lists, merged. The order within each list and between the lists is the same for every page. Each
 * list must reach to the end of the page and one row further, which shows whether there are more rows.
 */
export function pageOf<T extends Timed>(lists: readonly (readonly T[])[], offset: number, limit: number) {
  const places = lists.map(() => 0);
  const merged: T[] = [];
  while (merged.length <= offset + limit) {
    const newest = lists.reduce<number | undefined>((best, list, index) => {
      const head = list[places[index]!];
      if (!head) return best;
      return best === undefined || head.at > lists[best]![places[best]!]!.at ? index : best;
    }, undefined);
    if (newest === undefined) break;
    merged.push(lists[newest]![places[newest]!++]!);
  }
  return { runs: merged.slice(offset, offset + limit), hasMore: merged.length > offset + limit };
}
