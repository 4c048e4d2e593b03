import type { Logger } from 'pino';
import type { BatchClock } from '../../kernel/event-sourcing/batch-clock.js';
import { decode } from '../../kernel/event-sourcing/codec.js';
import {
  eventAt,
  type EventStore,
  type LogFilter,
  LOG_START,
  type StoredEvent,
} from '../../kernel/event-sourcing/event-store.js';
import type { Reaction } from '../../kernel/event-sourcing/reaction.js';
import type { Timing } from '../../kernel/timing.js';
import { withSignals } from '../../kernel/with-signals.js';
import { filterOf } from '../../../projections/projection.js';
import { backOffMs } from '../supervision/back-off.js';
import { logFailure } from '../supervision/failure-log.js';
import { type Leadership, LeadershipLost } from '../supervision/leadership.js';
import { isOutage } from '../supervision/outage.js';
import { Pages } from '../supervision/pages.js';
import { supervise } from '../supervision/supervise.js';
import { KeyedQueue } from './keyed-queue.js';
import type { ReactionTable, ReactionTables, TakenReaction } from './reaction-tables.js';
import { AckWindow } from './ack-window.js';

const CONCURRENCY_DEFAULT = 8;

/** Number of attempts for an event. Failures through an outage of a dependency do not count. */
const ATTEMPTS_MAX = 6;

/** Maximum number of events that are in progress or wait for an earlier event of their stream. */
const IN_HAND_MAX = 256;
/** Maximum number of events between the checkpoint and the newest event taken. A crash repeats them. */
export const WINDOW_EVENTS_MAX = 1_000;

/** The interval of saving the checkpoints of all reactions of a process. */
export const CHECKPOINT_EVERY_MS = 100;
/** How long a checkpoint may lag while there is nothing to do. A crash only repeats reading that part. */
const IDLE_CHECKPOINT_MS = 2_000;

const RETRIES_POLL_MS = 2_000;

/** The reason for parking an event that was not tried: an earlier event of its stream is parked. */
class HeldBack extends Error {
  override readonly name = 'HeldBack';
  constructor(stream: string) {
    super(`An earlier event of ${stream} is parked.`);
  }
}

/** The time in which this process runs the reaction: its epoch, and the signal of its end. */
type Tenure = Readonly<{ epoch: bigint; signal: AbortSignal }>;

export type ReactionDependencies = Readonly<{
  tables: ReactionTables;
  store: EventStore;
  leadership: Leadership;
  timing: Timing;
  /** The clock by which the reactions of the process save together. */
  saveClock: BatchClock;
  log: Logger;
}>;

/**
 * Follows the log from a reaction's checkpoint and acts at least once per event. The checkpoint is written after the effect, so a
 * crash repeats the events in progress and those since the last save.
 */
export class ReactionRunner {
  /** The error of the last attempt, until there is progress again or another process leads. */
  failure: string | undefined;
  /** The events on which the reaction acts. */
  readonly filter: LogFilter;
  private readonly table: ReactionTable;
  /** The streams with parked events. Their later events wait. */
  private parkedStreams = new Set<string>();

  constructor(
    private readonly dependencies: ReactionDependencies,
    readonly reaction: Reaction,
  ) {
    this.filter = { ...filterOf(reaction), types: Object.keys(reaction.on) };
    this.table = dependencies.tables.of(reaction.name);
  }

  run(signal: AbortSignal): Promise<void> {
    return supervise((until) => this.lead(until), {
      name: `Reaction ${this.reaction.name}`,
      signal,
      log: this.dependencies.log,
      timing: this.dependencies.timing,
      onFailure: (error) => (this.failure = error instanceof Error ? error.message : String(error)),
    });
  }

  private async lead(signal: AbortSignal): Promise<void> {
    const { leadership, store } = this.dependencies;
    const { name, begins } = this.reaction;
    const lost = await leadership.gain(`reaction:${name}`, signal, () => (this.failure = undefined));
    if (!lost) return;
    const taken = await this.table.takeOver(async () => (begins === 'now' ? store.head() : LOG_START));
    this.parkedStreams = new Set(taken.parkedStreams);
    await withSignals([signal, lost], (until) => this.follow(taken, until));
    if (!signal.aborted)
      throw new LeadershipLost(`The connection that made this process the runner of the reaction ${name} was lost.`);
  }

  private async follow({ position, epoch }: TakenReaction, signal: AbortSignal): Promise<void> {
    const stop = new AbortController();
    const until = AbortSignal.any([signal, stop.signal]);
    const tenure: Tenure = { epoch, signal: until };
    const window = new AckWindow(position);
    const queue = new KeyedQueue(this.reaction.concurrency ?? CONCURRENCY_DEFAULT, IN_HAND_MAX);
    const pages = new Pages(this.dependencies.store.followAll(position, this.filter, until), () => stop.abort());
    const saving = this.keepSaving(window, tenure).finally(() => stop.abort());
    saving.catch(() => undefined);
    const retrying = this.keepRetrying(queue, tenure).finally(() => stop.abort());
    retrying.catch(() => undefined);
    try {
      for (let page = await pages.next(); page && !until.aborted; page = await pages.next()) {
        this.failure = undefined;
        for (const event of page.events) await this.take(event, window, queue, tenure);
        // After an abort, some events of the page may not be in the window.
        if (!until.aborted) window.considered(page.position);
      }
    } finally {
      await pages.close();
      await queue.idle();
    }
    await Promise.all([saving, retrying]);
    if (window.position > position) await this.table.save(window, epoch);
  }

  private async take(event: StoredEvent, window: AckWindow, queue: KeyedQueue, tenure: Tenure): Promise<void> {
    if (!this.reaction.on[event.type]) return;
    await queue.room();
    while (window.ahead >= WINDOW_EVENTS_MAX && !tenure.signal.aborted) {
      await this.dependencies.timing.pause(CHECKPOINT_EVERY_MS, tenure.signal);
    }
    if (tenure.signal.aborted) return;
    const done = window.add(event.position, event.at);
    queue.add(event.stream, async (withSlot) => {
      if (await this.act(event, withSlot, tenure)) done();
    });
  }

  /** True if the event is done or parked; false if the runner stopped before that. */
  private async act(event: StoredEvent, withSlot: <T>(work: () => Promise<T>) => Promise<T>, tenure: Tenure): Promise<boolean> {
    const { timing } = this.dependencies;
    const { name } = this.reaction;
    const { epoch, signal } = tenure;
    for (let attempt = 1, faults = 0; !signal.aborted; attempt++) {
      try {
        if (this.parkedStreams.has(event.stream)) {
          await this.table.hold(event, new HeldBack(event.stream), epoch);
          return true;
        }
        await withSlot(() => this.handle(event, signal));
        return true;
      } catch (error) {
        if (signal.aborted) return false;
        if (!isOutage(error)) faults++;
        const { stream, revision, type } = event;
        const about = { err: error, reaction: name, stream, revision, type, attempt };
        logFailure(this.dependencies, 'warn', about, `${name} failed and will be tried again`);
        if (faults >= ATTEMPTS_MAX && (await this.park(event, error, tenure))) return true;
        await timing.pause(backOffMs(attempt, timing), signal);
      }
    }
    return false;
  }

  /** Parks the event. False if another process runs the reaction or the runner stopped. */
  private async park(event: StoredEvent, fault: unknown, { epoch, signal }: Tenure): Promise<boolean> {
    const { stream, revision, type } = event;
    if (!(await this.untilStored(() => this.table.park(event, fault, epoch), 'cannot park an event yet', signal))) return false;
    this.parkedStreams.add(stream);
    this.dependencies.log.error({ err: fault, stream, revision, type }, `${this.reaction.name} has parked an event`);
    return true;
  }

  /**
   * Repeats idempotent work on parked events during an outage: a statement whose answer was lost may have changed them, which
   * `parkedStreams` must follow. False if another process runs the reaction or the runner stopped.
   */
  private async untilStored(work: () => Promise<void>, failure: string, signal: AbortSignal): Promise<boolean> {
    const { timing } = this.dependencies;
    for (let attempt = 1; !signal.aborted; attempt++) {
      try {
        await work();
        return true;
      } catch (error) {
        logFailure(this.dependencies, 'warn', { err: error }, `${this.reaction.name} ${failure}`);
        if (!isOutage(error)) return false;
        await timing.pause(backOffMs(attempt, timing), signal);
      }
    }
    return false;
  }

  private async handle(event: StoredEvent, signal: AbortSignal): Promise<void> {
    if (signal.aborted) throw new Error('The reaction is stopping.');
    const { codec, on } = this.reaction;
    const decoded = decode(codec, event);
    if (decoded) await on[event.type]?.(decoded, signal);
  }

  private async keepSaving(window: AckWindow, { epoch, signal }: Tenure): Promise<void> {
    const { timing } = this.dependencies;
    const { moved } = window;
    let saved = { position: window.position, done: window.done, at: timing.elapsedMs() };
    signal.addEventListener('abort', moved.ring, { once: true });
    while (!signal.aborted) {
      await moved.rings();
      await this.saveTime(signal);
      const { position, done } = window;
      const isDue = done > saved.done || timing.elapsedMs() - saved.at >= IDLE_CHECKPOINT_MS;
      if (!isDue) continue;
      moved.mute();
      if (position === saved.position) continue;
      await this.table.save(window, epoch);
      saved = { position, done, at: timing.elapsedMs() };
    }
  }

  /** Waits until the reactions of the process save, or until the signal aborts. */
  private saveTime(signal: AbortSignal): Promise<void> {
    if (signal.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const end = () => {
        cancel();
        signal.removeEventListener('abort', end);
        resolve();
      };
      const cancel = this.dependencies.saveClock.within(CHECKPOINT_EVERY_MS, end);
      signal.addEventListener('abort', end);
    });
  }

  /** Retries parked streams on request, each in order with the new events of its stream. */
  private async keepRetrying(queue: KeyedQueue, tenure: Tenure): Promise<void> {
    const { signal } = tenure;
    while (!signal.aborted) {
      // Only this process parks events of this reaction while it leads.
      for (const stream of this.parkedStreams.size > 0 ? await this.table.retryRequested() : []) {
        await queue.room();
        if (signal.aborted) return;
        const retry = () =>
          this.untilStored(() => this.retryStream(stream, tenure), 'cannot retry its parked events yet', signal);
        await new Promise<void>((resolve) => queue.add(stream, () => retry().then(() => resolve())));
      }
      await this.dependencies.timing.pause(RETRIES_POLL_MS, signal);
    }
  }

  /**
   * Retries the parked events of a stream in order, up to the first that fails again. Purged ones are skipped. @throws the error of an
   * outage, after which the retry can be repeated
   */
  private async retryStream(stream: string, { epoch, signal }: Tenure): Promise<void> {
    for (let parked = await this.table.firstParked(stream); parked; parked = await this.table.firstParked(stream)) {
      const event = await eventAt(this.dependencies.store, stream, parked.revision);
      try {
        if (event) await this.handle(event, signal);
      } catch (error) {
        if (isOutage(error)) throw error;
        if (event && !signal.aborted) await this.table.parkAgain(event, error, epoch);
        return;
      }
      await this.table.free(parked, epoch);
    }
    this.parkedStreams.delete(stream);
  }
}
