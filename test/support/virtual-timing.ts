import type { TimerOptions, Timing } from '../../src/kernel/timing.js';
import { Seeded } from './seeded.js';

type Waiting = Readonly<{ at: number; unref: boolean; wake: () => void }>;

/**
 * Virtual time, which passes only when nothing else can run, and then jumps to the next waiter. It does not pass for timers that
 * a process may end before, such as intervals and deadlines: they fire while time passes for something else. Randomness comes
 * from a seed.
 */
export class VirtualTiming implements Timing {
  /** The requested durations of all pauses, in order. */
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

  nextTurn(): Promise<void> {
    return new Promise((resolve) => setImmediate(resolve));
  }

  pause(ms: number, signal?: AbortSignal): Promise<void> {
    if (signal?.aborted) return Promise.resolve();
    this.pauses.push(ms);
    return new Promise((resolve) => {
      const done = () => {
        cancel();
        signal?.removeEventListener('abort', done);
        resolve();
      };
      const cancel = this.after(ms, done);
      signal?.addEventListener('abort', done);
    });
  }

  after(ms: number, work: () => void, { unref = false }: TimerOptions = {}): () => void {
    const cancel = () => {
      this.waiting = this.waiting.filter((each) => each !== waiting);
    };
    const wake = () => {
      cancel();
      work();
    };
    const waiting: Waiting = { at: this.nowMs + ms, unref, wake };
    this.waiting = [...this.waiting, waiting].sort((one, other) => one.at - other.at);
    this.passOn();
    return cancel;
  }

  every(ms: number, work: () => void): () => void {
    let cancel = (): void => undefined;
    const again = () => {
      cancel = this.after(ms, () => (again(), work()), { unref: true });
    };
    again();
    return () => cancel();
  }

  deadline(ms: number): AbortSignal {
    const controller = new AbortController();
    this.after(ms, () => controller.abort(new DOMException('The time is up.', 'TimeoutError')), { unref: true });
    return controller.signal;
  }

  private passOn(): void {
    if (this.isPassing || this.waiting.every(({ unref }) => unref)) return;
    this.isPassing = true;
    // By now everything that does not wait has run.
    setImmediate(() => {
      this.isPassing = false;
      const [next] = this.waiting;
      if (!next || this.waiting.every(({ unref }) => unref)) return;
      this.nowMs = Math.max(this.nowMs, next.at);
      next.wake();
      this.passOn();
    });
  }
}
