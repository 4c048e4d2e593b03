import { Seeded } from '../../support/seeded.js';
import { type Actor, isAlive, type Life, lifeOf } from './actor.js';
import { Agenda } from './agenda.js';
import { Trace } from './trace.js';

/** The real functions, taken before tests replace them with virtual ones. */
const { setImmediate: afterTicks } = globalThis;
const nextTick = process.nextTick.bind(process);

/** After this many steps the simulation yields to the machine's own events. */
const STEPS_AT_ONCE_MAX = 1_000;

/**
 * The start of the simulated time: just before a full minute, when schedules become due, and not near a full hour, when monitors
 * do not check.
 */
export const EPOCH_MS = Date.UTC(2026, 0, 1, 0, 10, 57);

/** The maximum number of steps of a run. A run that reaches it would not end. */
const STEPS_MAX = 300_000;

/**
 * Time and order. Everything that takes time is an entry of the agenda. The next one happens when nothing is left to do without
 * time passing. Each user of random numbers has a separate generator, so that another draw in one place changes nothing
 * elsewhere.
 */
export class Simulation {
  nowMs = 0;
  readonly trace: Trace;
  /** The actor whose code is running. */
  current: Actor;
  private readonly agenda = new Agenda();
  private readonly order: Seeded;

  constructor(
    readonly seed: number,
    /** The actor for everything that belongs to no process: clients and servers. It never crashes. */
    readonly world: Actor,
    isTraced = false,
  ) {
    this.trace = new Trace(isTraced);
    this.current = world;
    this.order = this.random('order');
  }

  /** A separate generator for each name. */
  random(name: string): Seeded {
    let mixed = this.seed ^ 0x9e3779b9;
    for (const character of name) mixed = Math.imul(mixed ^ character.charCodeAt(0), 0x01000193);
    return new Seeded(mixed);
  }

  now(): Date {
    return new Date(EPOCH_MS + this.nowMs);
  }

  /** Calls a function after a time, if the actor is still in the same life. The returned function cancels it. */
  after(ms: number, actor: Actor, label: string, act: () => void): () => void {
    return this.afterFor(ms, lifeOf(actor), label, act);
  }

  afterFor(ms: number, of: Life, label: string, act: () => void): () => void {
    let isCancelled = false;
    // Times are whole microseconds, so that they print the same everywhere.
    const at = Math.round((this.nowMs + Math.max(0, ms)) * 1000) / 1000;
    this.agenda.add({ at, order: this.order.next(), of, label, act, isCancelled: () => isCancelled });
    return () => {
      isCancelled = true;
    };
  }

  pause(ms: number, actor: Actor = this.current, label = 'wakes up'): Promise<void> {
    return new Promise((resolve) => void this.after(ms, actor, label, resolve));
  }

  /**
   * Lets time pass until the condition holds, nothing is left, the given time is reached, or the maximum number of steps is
   * reached.
   */
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

/** Ticks run after all promise jobs, including those that these start. */
const drained = (): Promise<void> => new Promise((resolve) => nextTick(resolve));
