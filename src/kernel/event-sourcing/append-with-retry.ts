import { type Appended, type EventStore, StoreUnavailable, WrongRevision } from './event-store.js';
import type { Timing } from '../timing.js';

/** How long an append whose outcome is unknown is repeated before its caller gets 503. EventStoreDB itself takes 2 to 3 s. */
export const APPEND_PATIENCE_MS = 8_000;
/** How long after that the last repetition may take to be answered. */
export const LAST_ANSWER_MS_MAX = 1_000;
const REPEAT_DELAY_MS_MIN = 50;
const REPEAT_DELAY_MS_MAX = 1_000;

/** How long the winner of a race may be missing from reads before the lost append is sent again. */
export const WINNER_VISIBLE_MS_MAX = 1_000;
const VISIBLE_DELAY_MS_MIN = 5;
const VISIBLE_DELAY_MS_MAX = 100;

/**
 * Appends, and repeats the append while its outcome is unknown. The event ids make the repetition idempotent. A server may report
 * a revision that reads do not show yet: the loser of a race fails only once reads show that revision, so no caller decides again
 * on stale state. If the winning append was lost with its leader and never shows, this append is sent again and takes its place.
 * @throws WrongRevision when a later revision can be read; StoreUnavailable after `patienceMs`; what `append` throws
 */
export async function appendWithRetry(
  store: Pick<EventStore, 'lastRevision'>,
  timing: Timing,
  patienceMs: number,
  append: () => Promise<Appended>,
): Promise<Appended> {
  const givingUpAt = timing.elapsedMs() + patienceMs;
  for (;;) {
    try {
      return await untilGivenUp(timing, givingUpAt, append);
    } catch (error) {
      if (!(error instanceof WrongRevision) || (await isVisible(store, timing, givingUpAt, error))) throw error;
      if (timing.elapsedMs() + VISIBLE_DELAY_MS_MIN > givingUpAt)
        throw new StoreUnavailable(`What was appended to ${error.stream} cannot be read yet.`);
    }
  }
}

/** Repeats a request while the store is unavailable. The last repetition is answered within LAST_ANSWER_MS_MAX. */
const untilGivenUp = <T>(timing: Timing, givingUpAt: number, ask: () => Promise<T>): Promise<T> =>
  whileUnavailable(timing, givingUpAt, (before) => answeredBy(timing, givingUpAt + LAST_ANSWER_MS_MAX, before, ask));

/**
 * The answer of the store, if it arrives before the deadline `at`. The outcome of a request without an answer is unknown.
 * @throws StoreUnavailable at the deadline: the error of the attempt `before`, if there was one
 */
async function answeredBy<T>(
  timing: Timing,
  at: number,
  before: StoreUnavailable | undefined,
  ask: () => Promise<T>,
): Promise<T> {
  let forget: (() => void) | undefined;
  const late = new Promise<never>((_, reject) => {
    const giveUp = () => reject(before ?? new StoreUnavailable('The event store does not answer.'));
    forget = timing.after(Math.max(0, at - timing.elapsedMs()), giveUp, { unref: true });
  });
  return Promise.race([ask(), late]).finally(forget);
}

/** Waits until reads show the revision that a lost race reported. False if they do not show it in time. */
async function isVisible(
  store: Pick<EventStore, 'lastRevision'>,
  timing: Timing,
  givingUpAt: number,
  { stream, actual }: WrongRevision,
): Promise<boolean> {
  if (typeof actual !== 'number') return true;
  const until = Math.min(givingUpAt, timing.elapsedMs() + WINNER_VISIBLE_MS_MAX);
  for (let delayMs = VISIBLE_DELAY_MS_MIN; ; delayMs = Math.min(delayMs * 2, VISIBLE_DELAY_MS_MAX)) {
    const last = await untilGivenUp(timing, givingUpAt, () => store.lastRevision(stream));
    if (last !== 'none' && last >= actual) return true;
    const pauseMs = timing.random() * delayMs;
    if (timing.elapsedMs() + pauseMs > until) return false;
    await timing.pause(pauseMs);
  }
}

/**
 * Repeats idempotent work, with growing pauses, while the store is unavailable. The work receives its previous failure.
 * @throws StoreUnavailable once the elapsed time reaches `givingUpAt` or the signal aborts; other errors at once
 */
export async function whileUnavailable<T>(
  timing: Timing,
  givingUpAt: number,
  work: (before: StoreUnavailable | undefined) => Promise<T>,
  signal?: AbortSignal,
): Promise<T> {
  let before: StoreUnavailable | undefined;
  for (let delayMs = REPEAT_DELAY_MS_MIN; ; delayMs = Math.min(delayMs * 2, REPEAT_DELAY_MS_MAX)) {
    try {
      return await work(before);
    } catch (error) {
      if (!(error instanceof StoreUnavailable) || timing.elapsedMs() + delayMs > givingUpAt) throw error;
      before = error;
      await timing.pause(delayMs, signal);
      if (signal?.aborted) throw error;
    }
  }
}
