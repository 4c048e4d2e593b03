import { Injectable, Logger } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import {
  type KnownPause,
  type TakenTurn,
  UnsealedTurnQueries,
  type UnsealedTurn,
} from '../../../../projections/unsealed-turns/unsealed-turns.queries.js';
import { eachOf } from '../../../kernel/each-of.js';
import { KeyValue, KeyValueUnavailable } from '../../../kernel/key-value.js';
import { isHeld } from '../../../kernel/lease.js';
import type { Ticker } from '../../../kernel/event-sourcing/ticker.js';
import { AnsweringOptions, producerLeaseMs } from '../loop/answering-options.js';
import { TurnRunner } from './turn-runner.js';

export const SWEEP_EVERY_MS = 1_000;
/** Turns looked at in one sweep, and brought to their end side by side: appends made together share their way to the disk. */
export const SWEPT_TURNS_MAX = 500;
export const RECOVERED_AT_ONCE_MAX = 64;
/** The share of a lease that the store may say nothing for without anybody losing theirs by it: one renewal fits in the rest. */
const SILENCE_SHARE = 2 / 3;
export const PAUSES_REMEMBERED_MAX = 10_000;
/** A turn that was asked this long ago and not taken is unclaimed: its nudge was lost. */
const UNHEARD_AFTER_MS = 1_000;

export const producerKey = (producer: string): string => `producer.${producer}`;

/**
 * Finds turns without a producer: asked and never taken (they are run), taken by a producer that no longer holds its lease, or
 * taken by this process in a run that failed (their streams get their terminal frames). A turn is taken for abandoned after two
 * checks of the leases in a row. A wrong guess costs that turn, never the journal, because every writer names the revision it has
 * read.
 */
@Injectable()
export class SweepTurns implements Ticker {
  readonly name = 'sweep-turns';
  readonly everyMs = SWEEP_EVERY_MS;
  private readonly logger = new Logger(SweepTurns.name);
  private missed: ReadonlySet<string> = new Set();
  /** Pauses whose stream was seen to be shown to its end, by their turns: until they are over there is nothing more to do. */
  // With `max`, room for all of them would be made at once.
  private readonly wholePauses = new LRUCache<string, KnownPause>({ maxSize: PAUSES_REMEMBERED_MAX, sizeCalculation: () => 1 });
  private leasesReadableFrom = new Date(0);
  private leasesSeenAt = new Date(0);
  private isSilent = false;

  constructor(
    private readonly turns: UnsealedTurnQueries,
    private readonly keyValue: KeyValue,
    private readonly runner: TurnRunner,
    private readonly options: AnsweringOptions,
  ) {}

  async tick(now: Date): Promise<void> {
    await this.runUnheard(now);
    await this.recoverOrphans(now);
  }

  /** As many as there is room for: the others are most likely waiting in the queue for the same room. */
  private async runUnheard(now: Date): Promise<void> {
    const room = Math.min(SWEPT_TURNS_MAX, this.options.settings.turnsConcurrentMax - this.runner.running.length);
    if (room <= 0) return;
    const unheard = await this.turns.untaken(new Date(now.getTime() - UNHEARD_AFTER_MS), room);
    for (const turn of unheard) void this.attempt(turn, 'run');
  }

  /** Ends what producers left that are gone; where turns are run, goes on with what can be gone on with. */
  async recoverOrphans(now: Date): Promise<void> {
    const known = { running: this.runner.running, pauses: [...this.wholePauses.values()] };
    const alone = await this.turns.takenBy(await this.absentees(now), known, SWEPT_TURNS_MAX);
    const orphans = alone.filter(({ turnId }) => this.missed.has(turnId));
    this.missed = new Set([...(this.isSilent ? this.missed : []), ...alone.map(({ turnId }) => turnId)]);
    await eachOf(orphans, (turn) => this.recover(turn), RECOVERED_AT_ONCE_MAX);
  }

  /** Producers that do not go on with what they have taken: those without a lease, and this one, of what it does not run. */
  private async absentees(now: Date): Promise<readonly string[]> {
    const own = this.runner.producer;
    const producers = await this.turns.producers();
    try {
      const others = producers.filter((producer) => producer !== own);
      const present = await Promise.all(others.map((producer) => isHeld(this.keyValue, producerKey(producer))));
      this.noteAnswer(now);
      const areReadable = now >= this.leasesReadableFrom;
      return producers.filter((producer) => producer === own || (areReadable && !present[others.indexOf(producer)]));
    } catch (error) {
      if (!(error instanceof KeyValueUnavailable)) throw error;
      this.isSilent = true;
      return producers.filter((producer) => producer === own);
    }
  }

  /** Leases that could not be renewed meanwhile have run out; their holders get the time of a lease to take them again. */
  private noteAnswer(now: Date): void {
    const leaseMs = producerLeaseMs(this.options);
    const silentMs = this.isSilent ? now.getTime() - this.leasesSeenAt.getTime() : 0;
    if (silentMs > SILENCE_SHARE * leaseMs) this.leasesReadableFrom = new Date(now.getTime() + leaseMs);
    this.isSilent = false;
    this.leasesSeenAt = now;
  }

  private async recover(turn: TakenTurn): Promise<void> {
    const outcome = await this.attempt(turn, 'recover');
    // A run takes as long as it takes; the other turns do not wait for it.
    if (outcome === 'requeued' && this.options.settings.worker) void this.attempt(turn, 'run');
    const { turnId, pausedUntil: until } = turn;
    if (outcome === 'recovered' && until) this.wholePauses.set(turnId, { turnId, until });
  }

  /** One turn that cannot be helped must not keep the others from their end. */
  private async attempt({ conversationId, turnId }: UnsealedTurn, how: 'run' | 'recover') {
    try {
      return await this.runner[how](conversationId, turnId);
    } catch (error) {
      this.logger.error(`Turn ${turnId} could not be ${how === 'run' ? how : 'recovered'}; the next sweep tries again.`, error);
      return 'failed';
    }
  }
}
