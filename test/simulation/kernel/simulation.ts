import { Seeded } from '../../support/seeded.js';
import { type Actor, isAlive, type Life, lifeOf } from './actor.js';
import { Agenda } from './agenda.js';
import { Trace } from './trace.js';

/** Taken before anybody puts virtual ones in their place. */
const { setImmediate: afterTicks } = globalThis;
const nextTick = process.nextTick.bind(process);

/** After so many steps the machine's own events have their turn. */
const STEPS_AT_ONCE_MAX = 1_000;

/** When the simulated time begins: a moment before a full minute, at which schedules come due, and not near a full hour, at which no monitor looks. */
export const EPOCH_MS = Date.UTC(2026, 0, 1, 0, 10, 57);

/** A run that has taken so many steps does not end by itself. */
const STEPS_MAX = 300_000;

/**
 * Time and order. Whatever takes time is an entry of the agenda; the next one happens when nothing is left to do without time
 * passing. Who draws random numbers has a generator of its own, so that another draw in one place changes nothing elsewhere.
 */
export class Simulation {
  nowMs = 0;
  readonly trace: Trace;
  /** Whose code runs now. */
  current: Actor;
  private readonly agenda = new Agenda();
  private readonly order: Seeded;

  constructor(
    readonly seed: number,
    /** Who acts where nobody else does: clients, servers. It never dies. */
    readonly world: Actor,
    isTraced = false,
  ) {
    this.trace = new Trace(isTraced);
    this.current = world;
    this.order = this.random('order');
  }

  /** A generator of its own for each name. */
  random(name: string): Seeded {
    let mixed = this.seed ^ 0x9e3779b9;
    for (const character of name) mixed = Math.imul(mixed ^ character.charCodeAt(0), 0x01000193);
    return new Seeded(mixed);
  }

  now(): Date {
    return new Date(EPOCH_MS + this.nowMs);
  }

  /** Has an actor do something after a time, if it still lives the same life then. The returned function calls it off. */
  after(ms: number, actor: Actor, label: string, act: () => void): () => void {
    return this.afterFor(ms, lifeOf(actor), label, act);
  }

  afterFor(ms: number, of: Life, label: string, act: () => void): () => void {
    let isCancelled = false;
    // Times are of whole microseconds, so that they read the same wherever they are printed.
    const at = Math.round((this.nowMs + Math.max(0, ms)) * 1000) / 1000;
    this.agenda.add({ at, order: this.order.next(), of, label, act, isCancelled: () => isCancelled });
    return () => {
      isCancelled = true;
    };
  }

  pause(ms: number, actor: Actor = this.current, label = 'wakes up'): Promise<void> {
    return new Promise((resolve) => void this.after(ms, actor, label, resolve));
  }

  /** Lets time pass until it is over, or nothing is left to happen, or until a time. Ends also after so many steps that it would not by itself. */
  async run(isOver: () => boolean, untilMs = Infinity): Promise<void> {
    await drained();
    while (!isOver() && this.trace.steps < STEPS_MAX) {
      const entry = this.agenda.next();
      if (!entry) return;
      if (entry.isCancelled() || !isAlive(entry.of)) continue;
      if (entry.at > untilMs) {
        this.agenda.add(entry);
        return;
      }
      this.nowMs = entry.at;
      this.current = entry.of.actor;
      this.trace.add(entry.at, entry.of.actor.name, entry.label);
      entry.act();
      await drained();
      this.current = this.world;
      if (this.trace.steps % STEPS_AT_ONCE_MAX === 0) await new Promise((resolve) => void afterTicks(resolve));
    }
  }
}

/** Ticks come after all promise jobs, also those that these begin. */
const drained = (): Promise<void> => new Promise((resolve) => nextTick(resolve));
