import type { Timing } from '../../kernel/timing.js';

/**
 * Reads an iterable one page ahead: the next page is fetched while the current one is processed, unless the current page is the
 * last one so far. `stop` must end the source, also while it waits.
 */
export class Pages<T> {
  private readonly iterator: AsyncIterator<T>;
  private upcoming: Promise<IteratorResult<T>> | undefined;

  constructor(
    source: AsyncIterable<T>,
    private readonly stop: () => void,
    private readonly readsAhead: (page: T) => boolean = () => true,
  ) {
    this.iterator = source[Symbol.asyncIterator]();
    this.upcoming = this.fetch();
  }

  /** The next page; undefined at the end. */
  async next(): Promise<T | undefined> {
    const upcoming = await (this.upcoming ??= this.fetch());
    if (upcoming.done) return undefined;
    this.upcoming = this.readsAhead(upcoming.value) ? this.fetch() : undefined;
    return upcoming.value;
  }

  /** Whether `next` resolves within a time. */
  async hasNextWithin(ms: number, timing: Timing): Promise<boolean> {
    let cancel: (() => void) | undefined;
    const late = new Promise<boolean>((resolve) => (cancel = timing.after(ms, () => resolve(false))));
    const settled = () => true;
    const upcoming = (this.upcoming ??= this.fetch());
    const isThere = await Promise.race([upcoming.then(settled, settled), late]);
    cancel?.();
    return isThere;
  }

  async close(): Promise<void> {
    this.stop();
    await this.upcoming?.catch(() => undefined);
    await this.iterator.return?.();
  }

  private fetch(): Promise<IteratorResult<T>> {
    const upcoming = this.iterator.next();
    // The error is thrown when the page is awaited, which may be later.
    upcoming.catch(() => undefined);
    return upcoming;
  }
}
