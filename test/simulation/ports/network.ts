import { type Actor } from '../kernel/actor.js';
import type { Simulation } from '../kernel/simulation.js';
import type { Seeded } from '../../support/seeded.js';

/** Most messages are quick; now and then one is not. */
const USUAL_MS = 2;
const SLOW_MS = 60;
const SLOW_ONE_IN = 25;

/** Where calls of one actor to another are under way: each takes its time there and back, so that none is sure to come before another. */
export class Network {
  private readonly random: Seeded;

  constructor(private readonly simulation: Simulation) {
    this.random = simulation.random('network');
  }

  delayMs(): number {
    const max = this.random.oneIn(SLOW_ONE_IN) ? SLOW_MS : USUAL_MS;
    return 0.05 + this.random.next() * max;
  }

  /** What the server says, unless the caller has died meanwhile: then nobody ever hears of it, and the server has done it all the same. */
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
