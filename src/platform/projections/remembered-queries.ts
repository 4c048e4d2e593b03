import { LRUCache } from 'lru-cache';
import type { Timing } from '../../kernel/timing.js';
import type { Progress } from './progress.js';

export const REMEMBERED_QUERIES_MAX = 2_000;
/** A process that has lost a read model without having noticed goes by what it remembers for no longer than this. */
export const REMEMBERED_MS = 1_000;

type Remembered = Readonly<{ changes: number; answer: unknown }>;

/**
 * What read models answered a moment ago, for what every question asks of them. An answer holds until this process, which writes
 * the read model, has changed it: whoever has waited for a change is answered anew. What others write is not remembered.
 */
export class RememberedQueries {
  private readonly answers: LRUCache<string, Remembered>;

  constructor(
    private readonly progress: Progress,
    timing: Timing,
  ) {
    const perf = { now: () => timing.elapsedMs() };
    this.answers = new LRUCache({ max: REMEMBERED_QUERIES_MAX, ttl: REMEMBERED_MS, ttlResolution: 0, perf });
  }

  /** `key` tells queries of one projection apart. */
  async answer<T>(projection: string, key: string, query: () => Promise<T>): Promise<T> {
    const changes = this.progress.changesOf(projection);
    if (changes === undefined) return query();
    const place = `${projection} ${key}`;
    const remembered = this.answers.get(place);
    if (remembered?.changes === changes) return remembered.answer as T;
    const answer = await query();
    // With the count of before: a change that came meanwhile may be missing in it.
    this.answers.set(place, { changes, answer });
    return answer;
  }
}
