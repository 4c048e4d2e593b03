import type { Timing } from '../../kernel/timing.js';

/**
 * Reads an iterable one page ahead: the next page is fetched while the current one is processed, unless the current page is the
 * last one so far. `stop` must end the source, also while it waits.
 */
export class Pages<T> {
  private readonly iterator: AsyncIterator<T>;
  private upcoming: Promise<IteratorResult<T>> | undefined;
  private hasArrived = false;
  private onArrival = (): void => undefined;

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

  /**
   * Whether `next` resolves within a time. It is asked again and again while a source has no page, so it adds nothing to the
   * promise of that page, which would keep it.
   */
  async hasNextWithin(ms: number, timing: Timing): Promise<boolean> {
    this.upcoming ??= this.fetch();
    if (this.hasArrived) return true;
    let cancel = (): void => undefined;
    await new Promise<void>((resolve) => {
      this.onArrival = resolve;
      cancel = timing.after(ms, resolve);
    });
    cancel();
    return this.hasArrived;
  }

  async close(): Promise<void> {
    this.stop();
    await this.upcoming?.catch(() => undefined);
    await this.iterator.return?.();
  }

  private fetch(): Promise<IteratorResult<T>> {
    this.hasArrived = false;
    const upcoming = this.iterator.next();
    const arrive = () => {
      this.hasArrived = true;
      this.onArrival();
    };
    // An error is thrown when the page is awaited, which may be later.
    upcoming.then(arrive, arrive);
    return upcoming;
  }
}
