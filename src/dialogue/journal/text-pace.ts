/** The least and the longest time that text waits for more text. */
export const TEXT_DELAY_MS_MIN = 5;
export const TEXT_DELAY_MS_MAX = 50;
/** The number of journals with which the wait becomes a millisecond longer. */
const JOURNALS_PER_MS = 5;
/** How long a journal counts after its last append. Up to twice as long, because the journals are counted in windows of this length. */
const COUNTED_MS = 100;

/**
 * How long the text of an answer waits for more text, to share a frame, an append and a write to each reader. Those cost the same
 * however little text they carry, so the wait grows with the number of journals that a process is writing.
 */
export class TextPace {
  private journals = new Set<object>();
  private countBefore = 0;
  private since = -Infinity;

  /** Counts the journal as being written. Returns the time between its appends of text. */
  delayMs(journal: object, nowMs: number): number {
    const ageMs = nowMs - this.since;
    if (ageMs >= COUNTED_MS) {
      this.countBefore = ageMs < 2 * COUNTED_MS ? this.journals.size : 0;
      this.journals = new Set();
      this.since = nowMs;
    }
    this.journals.add(journal);
    const wantedMs = Math.max(this.countBefore, this.journals.size) / JOURNALS_PER_MS;
    return Math.min(Math.max(wantedMs, TEXT_DELAY_MS_MIN), TEXT_DELAY_MS_MAX);
  }
}
