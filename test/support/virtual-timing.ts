import type { Timing } from '../../src/kernel/timing.js';
import { Seeded } from './seeded.js';

type Waiting = Readonly<{ at: number; wake: () => void }>;

/** Time that passes only when there is nothing else to do, and then at once to the next who waits for it. Chance comes from a seed. */
export class VirtualTiming implements Timing {
  /** How long everybody has wanted to wait, in order. */
  readonly pauses: number[] = [];
  private nowMs = 0;
  private waiting: readonly Waiting[] = [];
  private isPassing = false;
  private readonly seeded: Seeded;

  constructor(seed = 1) {
    this.seeded = new Seeded(seed);
  }

  elapsedMs(): number {
    return this.nowMs;
  }

  random(): number {
    return this.seeded.next();
  }

  pause(ms: number, signal?: AbortSignal): Promise<void> {
    if (signal?.aborted) return Promise.resolve();
    this.pauses.push(ms);
    return new Promise((resolve) => {
      const wake = () => {
        signal?.removeEventListener('abort', wake);
        this.waiting = this.waiting.filter((each) => each !== waiting);
        resolve();
      };
      const waiting: Waiting = { at: this.nowMs + ms, wake };
      this.waiting = [...this.waiting, waiting].sort((one, other) => one.at - other.at);
      signal?.addEventListener('abort', wake);
      this.passOn();
    });
  }

  private passOn(): void {
    if (this.isPassing || this.waiting.length === 0) return;
    this.isPassing = true;
    // What can be done without waiting is done by then.
    setImmediate(() => {
      this.isPassing = false;
      const [next] = this.waiting;
      if (!next) return;
      this.nowMs = Math.max(this.nowMs, next.at);
      next.wake();
      this.passOn();
    });
  }
}
