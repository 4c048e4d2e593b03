import { Injectable, Logger, type OnApplicationBootstrap, type BeforeApplicationShutdown } from '@nestjs/common';
import { Ids } from '../../../kernel/ids.js';
import { KeyValue } from '../../../kernel/messaging/key-value.js';
import { holdLease } from '../../../kernel/messaging/lease.js';
import { shuttingDown } from '../../../kernel/rejection.js';
import { Timing } from '../../../kernel/timing.js';
import { WorkQueue } from '../../../kernel/messaging/work-queue.js';
import { type Seat, TurnTaker } from '../intake/turn-taker.js';
import { TURNS_QUEUE } from '../intake/turns-queue.js';
import { AnsweringOptions, producerLeaseMs } from '../loop/answering-options.js';
import type { TurnToRun } from '../../journal/message.events.js';
import { producerKey } from './sweep-turns.ticker.js';
import { TurnRunner } from './turn-runner.js';
import { TurnSeats } from './turn-seats.js';

/** Running turns may finish within this share of the shutdown time. */
const GRACE_SHARE = 0.5;
/** The delay before the next attempt to take the lease. */
const RECLAIM_MS = 250;

/**
 * Takes turns from the queue or directly with the append of their question, and holds the lease that shows this producer is
 * alive.
 */
@Injectable()
export class TurnsWorker extends TurnTaker implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly logger = new Logger(TurnsWorker.name);
  private readonly stopping = new AbortController();
  private readonly leaving = new AbortController();
  private consuming: Promise<void> = Promise.resolve();
  private leasing: Promise<void> = Promise.resolve();
  private readonly seats: TurnSeats;
  private isWorking = false;

  constructor(
    private readonly queue: WorkQueue,
    private readonly keyValue: KeyValue,
    private readonly runner: TurnRunner,
    private readonly timing: Timing,
    private readonly ids: Ids,
    private readonly options: AnsweringOptions,
  ) {
    super();
    this.seats = new TurnSeats(options.settings.turnsConcurrentMax);
  }

  onApplicationBootstrap(): void {
    const { worker, turnsConcurrentMax } = this.options.settings;
    if (!worker) return;
    this.isWorking = true;
    this.leasing = this.keepLease(this.leaving.signal);
    const { signal } = this.stopping;
    this.consuming = this.queue.consume(TURNS_QUEUE, { concurrency: turnsConcurrentMax, signal }, async (payload) => {
      const { conversationId, turnId } = JSON.parse(payload) as TurnToRun;
      const leave = await this.seats.take();
      try {
        await this.runner.run(conversationId, turnId);
      } finally {
        leave();
      }
    });
  }

  /** @throws Rejection shutting-down, because the turn might wait for the next start of the service */
  seat(turnId: string): Seat | undefined {
    if (this.isWorking && this.stopping.signal.aborted) throw shuttingDown();
    const leave = this.isWorking ? this.seats.tryTake() : undefined;
    if (!leave) return undefined;
    const expected = this.runner.expect(turnId);
    expected.done
      // The sweep recovers a turn whose run failed here.
      .catch((error: unknown) => this.logger.error(`Turn ${turnId} could not be run.`, error))
      .finally(leave);
    const { expectTranscript, settle } = expected;
    return { producer: this.runner.producer, expectTranscript, run: settle, leave: () => settle(undefined) };
  }

  /** Takes no more turns, finishes or interrupts the running ones, then gives the lease up. */
  async beforeApplicationShutdown(): Promise<void> {
    this.stopping.abort();
    await this.runner.close(this.options.settings.shutdownMs * GRACE_SHARE);
    await this.consuming;
    this.leaving.abort();
    await this.leasing;
  }

  /**
   * Holds the lease and takes it again at once if it is lost. Without the lease, other processes consider the running turns
   * abandoned.
   */
  private async keepLease(signal: AbortSignal): Promise<void> {
    const { timing, ids, runner } = this;
    const ttlMs = producerLeaseMs(this.options);
    const lease = { ttlMs, holder: runner.producer, timing, ids, signal };
    for (let failures = 0; !signal.aborted;) {
      try {
        const held = await holdLease(this.keyValue, producerKey(runner.producer), lease);
        failures = 0;
        if (held) await untilEither(held.lost, signal);
        else await untilEither(signal, timing.deadline(RECLAIM_MS));
      } catch (error) {
        if (failures++ === 0) this.logger.warn(`The lease of this producer cannot be held: ${(error as Error).message}`);
        await untilEither(signal, timing.deadline(RECLAIM_MS));
      }
    }
  }
}

function untilEither(first: AbortSignal, second: AbortSignal): Promise<void> {
  if (first.aborted || second.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const done = () => {
      first.removeEventListener('abort', done);
      second.removeEventListener('abort', done);
      resolve();
    };
    first.addEventListener('abort', done);
    second.addEventListener('abort', done);
  });
}
