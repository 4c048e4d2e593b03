import { type Signals } from '../../../src/kernel/messaging/signals.js';
import type { Seeded } from '../../support/seeded.js';
import type { Actor } from '../kernel/actor.js';
import type { Simulation } from '../kernel/simulation.js';
import type { Network } from './network.js';

const LOST_ONE_IN = 12;
const DOUBLED_ONE_IN = 20;

type Listener = Readonly<{ actor: Actor; life: number; onSignal: (payload: string) => void }>;

/** Carries signals between processes as badly as the port allows: some are lost, duplicated, or reordered. */
export class SignalBus {
  private readonly listeners = new Map<string, Set<Listener>>();
  private readonly random: Seeded;

  constructor(
    private readonly simulation: Simulation,
    private readonly network: Network,
  ) {
    this.random = simulation.random('signals');
  }

  of(actor: Actor): Signals {
    const { life } = actor;
    return {
      healthy: true,
      publish: (subject, payload) => this.publish(subject, payload),
      subscribe: (subject, onSignal) => this.subscribe(subject, { actor, life, onSignal }),
    };
  }

  private publish(subject: string, payload: string): void {
    for (const listener of this.listeners.get(subject) ?? []) {
      if (this.random.oneIn(LOST_ONE_IN)) continue;
      this.deliver(subject, payload, listener);
      if (this.random.oneIn(DOUBLED_ONE_IN)) this.deliver(subject, payload, listener);
    }
  }

  private deliver(subject: string, payload: string, listener: Listener): void {
    this.simulation.afterFor(this.network.delayMs(), listener, `signal ${subject}`, () => {
      if (this.listeners.get(subject)?.has(listener)) listener.onSignal(payload);
    });
  }

  private subscribe(subject: string, listener: Listener): () => void {
    const set = this.listeners.get(subject) ?? new Set();
    this.listeners.set(subject, set.add(listener));
    return () => set.delete(listener);
  }
}
