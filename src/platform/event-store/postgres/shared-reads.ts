import { isPassing } from '../../postgres/database.js';

/** Statements on their way at a time: one that the server works on, and one that travels. */
export const SHARED_STATEMENTS_MAX = 2;
/** Reads that share a statement, at most: each may be a page, and all of them wait for the largest. */
export const SHARED_READS_MAX = 16;

type Waiting<Wish, Found> = Readonly<{
  wish: Wish;
  deadline: number;
  resolve: (found: Found) => void;
  reject: (error: unknown) => void;
}>;

/** Reads that are wished for at the same time share one statement, so that many readers cost as many round trips as a few. */
export class SharedReads<Wish, Found> {
  private waiting: Waiting<Wish, Found>[] = [];
  private flying = 0;
  private scheduled = false;

  /** `read`: answers what was found for each wish, in their order, or throws within so many ms. */
  constructor(private readonly read: (wishes: readonly Wish[], timeoutMs: number) => Promise<readonly Found[]>) {}

  /** `deadline`: as `performance.now` counts. @throws what the read throws, by then at the latest */
  find(wish: Wish, deadline: number): Promise<Found> {
    return new Promise((resolve, reject) => {
      this.waiting.push({ wish, deadline, resolve, reject });
      this.schedule();
    });
  }

  /** Waits for the end of the present turn of the event loop: what many clients have sent is taken in by then. */
  private schedule(): void {
    if (this.scheduled || this.flying === SHARED_STATEMENTS_MAX || this.waiting.length === 0) return;
    this.scheduled = true;
    setImmediate(() => {
      this.scheduled = false;
      void this.fly(this.waiting.splice(0, SHARED_READS_MAX));
      this.schedule();
    });
  }

  private async fly(reads: readonly Waiting<Wish, Found>[]): Promise<void> {
    this.flying++;
    await this.send(reads);
    this.flying--;
    this.schedule();
  }

  /** The first has waited longest: whoever is told before its own deadline that nothing was found out may wish again. */
  private async send(reads: readonly Waiting<Wish, Found>[]): Promise<void> {
    try {
      const wishes = reads.map(({ wish }) => wish);
      const found = await this.read(wishes, Math.max(1, reads[0]!.deadline - performance.now()));
      reads.forEach(({ resolve }, place) => resolve(found[place]!));
    } catch (error) {
      // A statement that the server refuses for what is in it: the one read at fault must not fail its companions.
      if (reads.length > 1 && !isPassing(error)) for (const each of reads) await this.send([each]);
      else for (const { reject } of reads) reject(error);
    }
  }
}
