import { LRUCache } from 'lru-cache';
import type { Timing } from '../../kernel/timing.js';
import type { Progress } from './progress.js';

export const REMEMBERED_QUERIES_MAX = 2_000;
/** Maximum size of the results together. Results that are not rendered are small; each counts as `RECORD_CHARACTERS`. */
export const REMEMBERED_CHARACTERS_MAX = 4 * 1024 * 1024;
const RECORD_CHARACTERS = 2_000;
/** The longest time that a result is cached. It bounds staleness when this process has lost the leadership without noticing. */
export const REMEMBERED_MS = 1_000;

type Remembered = Readonly<{ changes: number; answer: unknown }>;

/**
 * A cache of the results of frequent queries. A result is valid until this process, which writes the read model, changes
 * it, so a caller that has waited for a change gets a fresh result. Read models of other processes are not cached.
 */
export class RememberedQueries {
  private readonly answers: LRUCache<string, Remembered>;

  constructor(
    private readonly progress: Progress,
    timing: Timing,
  ) {
    const perf = { now: () => timing.elapsedMs() };
    this.answers = new LRUCache({
      max: REMEMBERED_QUERIES_MAX,
      maxSize: REMEMBERED_CHARACTERS_MAX,
      sizeCalculation: ({ answer }) => (typeof answer === 'string' ? answer.length + 1 : RECORD_CHARACTERS),
      ttl: REMEMBERED_MS,
      ttlResolution: 0,
      perf,
    });
  }

  /** @param key distinguishes the queries of a projection */
  async answer<T>(projection: string, key: string, query: () => Promise<T>): Promise<T> {
    const changes = this.progress.changesOf(projection);
    if (changes === undefined) return query();
    const place = `${projection} ${key}`;
    const remembered = this.answers.get(place);
    if (remembered?.changes === changes) return remembered.answer as T;
    const answer = await query();
    // Stored with the earlier counter, because the result may lack a change that was made meanwhile.
    this.answers.set(place, { changes, answer });
    return answer;
  }
}
