import {
  type Appended,
  type EventStore,
  type ExpectedRevision,
  type NewEvent,
  StoreUnavailable,
  WrongRevision,
} from './event-store.js';
import type { Timing } from '../timing.js';

/** How long an append whose outcome is unknown is repeated before its caller gets 503. EventStoreDB itself takes 2 to 3 s. */
export const APPEND_PATIENCE_MS = 8_000;
/** How long after that the last repetition may still be answered. */
export const LAST_ANSWER_MS_MAX = 1_000;
const REPEAT_DELAY_MS_MIN = 50;
const REPEAT_DELAY_MS_MAX = 1_000;

/** How long the winner of a race may stay invisible before the append that lost to it is sent again and answered anew. */
export const WINNER_VISIBLE_MS_MAX = 1_000;
const VISIBLE_DELAY_MS_MIN = 5;
const VISIBLE_DELAY_MS_MAX = 100;

type Store = Pick<EventStore, 'append' | 'lastRevision'>;

/**
 * Appends, and repeats the append while its outcome is unknown: the ids make that harmless. A server may name a revision that it
 * does not show yet. The loser of a race to such a revision fails once reads show it, so that no caller decides again on old state.
 * Where a winner never shows, because it was lost with its leader, the same append is the one that counts.
 * @throws WrongRevision when a later revision can be read, StoreUnavailable when patience has run out, and as `append` does
 */
export async function appendWithRetry(
  store: Store,
  timing: Timing,
  patienceMs: number,
  stream: string,
  expected: ExpectedRevision,
  events: readonly NewEvent[],
): Promise<Appended> {
  const givingUpAt = timing.elapsedMs() + patienceMs;
  for (;;) {
    try {
      return await untilGivenUp(timing, givingUpAt, () => store.append(stream, expected, events));
    } catch (error) {
      if (!(error instanceof WrongRevision) || (await isVisible(store, timing, givingUpAt, error))) throw error;
    }
    if (timing.elapsedMs() + VISIBLE_DELAY_MS_MIN > givingUpAt)
      throw new StoreUnavailable(`What was appended to ${stream} cannot be read yet.`);
  }
}

/** Asks again while the store is away; the last time it has a bound of its own, however long the store takes to fail. */
const untilGivenUp = <T>(timing: Timing, givingUpAt: number, ask: () => Promise<T>): Promise<T> =>
  whileUnavailable(timing, givingUpAt, (before) => answeredBy(timing, givingUpAt + LAST_ANSWER_MS_MAX, before, ask));

/**
 * What the store answers until then. What it does later is not known to the caller, as of every answer that was lost.
 * @throws StoreUnavailable then, which is what was said `before` where that is known
 */
async function answeredBy<T>(
  timing: Timing,
  at: number,
  before: StoreUnavailable | undefined,
  ask: () => Promise<T>,
): Promise<T> {
  let forget: (() => void) | undefined;
  const late = new Promise<never>((_, reject) => {
    const tell = () => reject(before ?? new StoreUnavailable('The event store does not answer.'));
    forget = timing.after(Math.max(0, at - timing.elapsedMs()), tell, { unref: true });
  });
  return Promise.race([ask(), late]).finally(forget);
}

/** Whether reads show, sooner or later, the revision that the answer to a lost race named. */
async function isVisible(store: Store, timing: Timing, givingUpAt: number, { stream, actual }: WrongRevision): Promise<boolean> {
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
 * Repeats harmless work, with growing pauses while the store is away, until it succeeds or the elapsed time has come to
 * `givingUpAt`. The work gets its previous failure. @throws StoreUnavailable then, and every other error at once
 */
export async function whileUnavailable<T>(
  timing: Timing,
  givingUpAt: number,
  work: (before: StoreUnavailable | undefined) => Promise<T>,
): Promise<T> {
  let before: StoreUnavailable | undefined;
  for (let delayMs = REPEAT_DELAY_MS_MIN; ; delayMs = Math.min(delayMs * 2, REPEAT_DELAY_MS_MAX)) {
    try {
      return await work(before);
    } catch (error) {
      if (!(error instanceof StoreUnavailable) || timing.elapsedMs() + delayMs > givingUpAt) throw error;
      before = error;
      await timing.pause(delayMs);
    }
  }
}
