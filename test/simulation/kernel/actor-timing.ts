import type { Timing } from '../../../src/kernel/timing.js';
import type { Seeded } from '../../support/seeded.js';
import { type Actor, type Life, lifeOf } from './actor.js';
import type { Simulation } from './simulation.js';

/** The shortest timer of Node. */
const TIMER_MS_MIN = 1;

/** Time and randomness for one life of an actor. Its timers end with that life. */
export class ActorTiming implements Timing {
  private readonly life: Life;

  constructor(
    private readonly simulation: Simulation,
    actor: Actor,
    private readonly chance: Seeded,
  ) {
    this.life = lifeOf(actor);
  }

  elapsedMs(): number {
    return this.simulation.nowMs;
  }

  random(): number {
    return this.chance.next();
  }

  nextTurn(): Promise<void> {
    return this.pause(0);
  }

  pause(ms: number, signal?: AbortSignal): Promise<void> {
    if (signal?.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const done = () => {
        cancel();
        signal?.removeEventListener('abort', done);
        resolve();
      };
      const cancel = this.later(ms, 'pause', done);
      signal?.addEventListener('abort', done);
    });
  }

  after(ms: number, work: () => void): () => void {
    return this.later(ms, 'timer', work);
  }

  every(ms: number, work: () => void): () => void {
    let cancel = (): void => undefined;
    const again = () => {
      cancel = this.later(ms, 'interval', () => {
        again();
        work();
      });
    };
    again();
    return () => cancel();
  }

  deadline(ms: number): AbortSignal {
    const controller = new AbortController();
    this.later(ms, 'deadline', () =>
      controller.abort(new DOMException('The operation was aborted due to timeout', 'TimeoutError')),
    );
    return controller.signal;
  }

  private later(ms: number, label: string, work: () => void): () => void {
    return this.simulation.afterFor(Math.max(TIMER_MS_MIN, ms), this.life, label, work);
  }
}
