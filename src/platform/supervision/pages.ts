import type { Timing } from '../../kernel/timing.js';

/**
 * An iterable read one page ahead: the next page is fetched while this one is worked on, unless the page says that there is
 * little to come yet and more if one waits. `stop` must end the source, also while it waits for something to happen.
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

  /** The next page, undefined at the end. */
  async next(): Promise<T | undefined> {
    const upcoming = await (this.upcoming ??= this.fetch());
    if (upcoming.done) return undefined;
    this.upcoming = this.readsAhead(upcoming.value) ? this.fetch() : undefined;
    return upcoming.value;
  }

  /** Whether `next` has something to say within a time. */
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
    // Thrown where it is awaited, which may be later than it happens.
    upcoming.catch(() => undefined);
    return upcoming;
  }
}
