import type { Timing } from '../../../src/kernel/timing.js';
import type { Seeded } from '../../support/seeded.js';
import { type Actor, type Life, lifeOf } from './actor.js';
import type { Simulation } from './simulation.js';

/** No timer of Node is faster. */
const TIMER_MS_MIN = 1;

/** Time and chance as one life of an actor has them. */
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

  pause(ms: number, signal?: AbortSignal): Promise<void> {
    if (signal?.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const done = () => {
        cancel();
        signal?.removeEventListener('abort', done);
        resolve();
      };
      const cancel = this.simulation.afterFor(Math.max(TIMER_MS_MIN, ms), this.life, 'pause', done);
      signal?.addEventListener('abort', done);
    });
  }
}
