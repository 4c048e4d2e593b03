import { type Actor } from '../kernel/actor.js';
import type { Simulation } from '../kernel/simulation.js';
import type { Seeded } from '../../support/seeded.js';

/** The usual delay of a message, and that of 1 in SLOW_ONE_IN. */
const USUAL_MS = 2;
const SLOW_MS = 60;
const SLOW_ONE_IN = 25;

/** Carries calls between actors. Each takes a random time in both directions, so that any of two calls may arrive first. */
export class Network {
  private readonly random: Seeded;

  constructor(private readonly simulation: Simulation) {
    this.random = simulation.random('network');
  }

  delayMs(): number {
    const max = this.random.oneIn(SLOW_ONE_IN) ? SLOW_MS : USUAL_MS;
    return 0.05 + this.random.next() * max;
  }

  /**
   * Returns the server's result, unless the caller crashes meanwhile. Then the call still takes effect, but no response arrives.
   */
  call<T>(caller: Actor, label: string, serve: () => T | Promise<T>): Promise<T> {
    const { simulation } = this;
    return new Promise<T>((resolve, reject) => {
      const life = { actor: caller, life: caller.life };
      const answer = (how: string, act: () => void) => simulation.afterFor(this.delayMs(), life, `${label} ${how}`, act);
      simulation.after(this.delayMs(), simulation.world, `${caller.name}: ${label}`, () => {
        const serving = (async () => serve())();
        serving.then(
          (value) => answer('answered', () => resolve(value)),
          (error: Error) => answer('failed', () => reject(error)),
        );
      });
    });
  }
}
