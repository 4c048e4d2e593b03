import { Injectable, Logger } from '@nestjs/common';
import {
  type PausedTurn,
  UnsealedTurnQueries,
  type UnsealedTurn,
} from '../../../../projections/unsealed-turns/unsealed-turns.queries.js';
import { eachOf } from '../../../kernel/each-of.js';
import { Failures } from '../../../kernel/failures.js';
import { StoreUnavailable } from '../../../kernel/event-sourcing/event-store.js';
import { KeyValue, KeyValueUnavailable } from '../../../kernel/messaging/key-value.js';
import { isHeld } from '../../../kernel/messaging/lease.js';
import { Sightings } from '../../../kernel/sightings.js';
import { Timing } from '../../../kernel/timing.js';
import type { Ticker } from '../../../kernel/event-sourcing/ticker.js';
import { AnsweringOptions, producerLeaseMs } from '../loop/answering-options.js';
import { CompletePauses } from './complete-pauses.js';
import { TurnRunner } from './turn-runner.js';

export const SWEEP_EVERY_MS = 1_000;
/** Maximum number of turns that one sweep runs, and that it recovers, and of paused turns that it reads. */
export const SWEPT_TURNS_MAX = 500;
export const RECOVERED_AT_ONCE_MAX = 64;
/**
 * The store of leases may be silent for this share of a lease's duration without a lease expiring, because one renewal fits in
 * the rest.
 */
const SILENCE_SHARE = 2 / 3;
/** A turn that a sweep has seen unclaimed for this time, so for two ticks, is started by it: its queue item may be lost. */
const UNCLAIMED_AFTER_MS = SWEEP_EVERY_MS / 2;

const idOf = ({ turnId }: UnsealedTurn): string => turnId;

export const producerKey = (producer: string): string => `producer.${producer}`;

/**
 * Finds turns without a live producer. It runs turns that were asked and never claimed. It recovers turns whose producer no
 * longer holds its lease, and turns whose run failed in this process. A turn counts as abandoned after two consecutive checks of
 * the leases. A wrong guess ends that turn, but never damages the journal, because every writer appends at the revision that it
 * has read.
 */
@Injectable()
export class SweepTurns implements Ticker {
  readonly name = 'sweep-turns';
  readonly everyMs = SWEEP_EVERY_MS;
  private readonly logger = new Logger(SweepTurns.name);
  private readonly unclaimed: Sightings;
  /** The unclaimed turns that this process could not run. */
  private readonly failures = new Failures();
  /** The turns of other producers that could not be recovered. */
  private readonly unrecovered = new Failures();
  private missed: ReadonlySet<string> = new Set();
  private readonly completePauses = new CompletePauses();
  /** The last paused turn of the page before; undefined at the beginning of a round over all paused turns. */
  private pausesAfter: PausedTurn | undefined;
  /** Whether the next sweep reads the same page of pauses again. */
  private isReadTwice = false;
  /** Both in elapsed time, which a change of the clock does not affect. */
  private leasesReadableFrom = -Infinity;
  private leasesSeenAt = -Infinity;
  private isSilent = false;

  constructor(
    private readonly turns: UnsealedTurnQueries,
    private readonly keyValue: KeyValue,
    private readonly runner: TurnRunner,
    private readonly options: AnsweringOptions,
    private readonly timing: Timing,
  ) {
    this.unclaimed = new Sightings(timing);
  }

  async tick(): Promise<void> {
    await this.runUnclaimed();
    await this.recoverOrphans();
  }

  /** Starts at most as many turns as this process has room for. The others probably wait in the queue for the same room. */
  private async runUnclaimed(): Promise<void> {
    const room = Math.min(SWEPT_TURNS_MAX, this.options.settings.turnsConcurrentMax - this.runner.running.length);
    if (room <= 0) return;
    const unclaimed = await this.turns.untaken(this.failures.pageFor(room));
    const ids = unclaimed.map(idOf);
    this.unclaimed.look(ids);
    this.failures.retain(ids);
    const due = unclaimed.filter(({ turnId }) => this.unclaimed.ageMs(turnId) >= UNCLAIMED_AFTER_MS);
    for (const turn of this.failures.next(due, idOf, room)) void this.runOne(turn);
  }

  private async runOne(turn: UnsealedTurn): Promise<void> {
    if ((await this.attempt(turn, 'run')) === 'failed') this.failures.add(turn.turnId);
  }

  /** Recovers the turns of producers that are gone. A process with a worker also runs the turns that recovery requeues. */
  async recoverOrphans(): Promise<void> {
    const { running } = this.runner;
    const { producers, paused } = await this.turns.taken(SWEPT_TURNS_MAX, this.pausesAfter);
    const absent = await this.absentees([...new Set([...producers, ...paused.map(({ producer }) => producer)])]);
    const isLeft = (turn: PausedTurn) => !this.completePauses.isKnown(turn) && !running.includes(turn.turnId);
    const left = paused.filter((turn) => absent.includes(turn.producer) && isLeft(turn));
    const taken = await this.turns.takenBy(absent, running, this.unrecovered.pageFor(SWEPT_TURNS_MAX));
    const alone: readonly (UnsealedTurn | PausedTurn)[] = [...taken, ...left];
    const ids = alone.map(idOf);
    this.unrecovered.retain(ids);
    const orphans = alone.filter(({ turnId }) => this.missed.has(turnId));
    if (!this.isSilent) this.turnPage(paused, left.length > 0);
    this.missed = new Set([...(this.isSilent ? this.missed : []), ...ids]);
    const chosen = this.unrecovered.next(orphans, idOf, SWEPT_TURNS_MAX);
    await eachOf(chosen, (turn) => this.recover(turn), RECOVERED_AT_ONCE_MAX);
  }

  /** A page of pauses with abandoned turns is read by two sweeps, because a turn counts as abandoned after two checks. */
  private turnPage(page: readonly PausedTurn[], isAnyLeft: boolean): void {
    this.isReadTwice = isAnyLeft && !this.isReadTwice;
    if (this.isReadTwice) return;
    this.pausesAfter = page.length === SWEPT_TURNS_MAX ? page.at(-1) : undefined;
    if (!this.pausesAfter) this.completePauses.endRound();
  }

  /** The producers whose turns may be abandoned: those without a lease, and this process for turns that it is not running. */
  private async absentees(producers: readonly string[]): Promise<readonly string[]> {
    const own = this.runner.producer;
    try {
      const others = producers.filter((producer) => producer !== own);
      const present = await Promise.all(others.map((producer) => isHeld(this.keyValue, producerKey(producer))));
      const now = this.timing.elapsedMs();
      this.noteAnswer(now);
      const areReadable = now >= this.leasesReadableFrom;
      return producers.filter((producer) => producer === own || (areReadable && !present[others.indexOf(producer)]));
    } catch (error) {
      if (!(error instanceof KeyValueUnavailable)) throw error;
      this.isSilent = true;
      return producers.filter((producer) => producer === own);
    }
  }

  /**
   * Leases that could not be renewed while the store was silent have expired. Their holders get one lease duration to take them
   * again.
   */
  private noteAnswer(now: number): void {
    const leaseMs = producerLeaseMs(this.options);
    const silentMs = this.isSilent ? now - this.leasesSeenAt : 0;
    if (silentMs > SILENCE_SHARE * leaseMs) this.leasesReadableFrom = now + leaseMs;
    this.isSilent = false;
    this.leasesSeenAt = now;
  }

  private async recover(turn: UnsealedTurn | PausedTurn): Promise<void> {
    // It may have been resumed since it was read.
    if (this.runner.running.includes(turn.turnId)) return;
    const outcome = await this.attempt(turn, 'recover');
    if (outcome === 'failed') this.unrecovered.add(turn.turnId);
    // Not awaited: the other turns must not wait for a run of unknown length.
    if (outcome === 'requeued' && this.options.settings.worker) void this.attempt(turn, 'run');
    if (outcome === 'recovered' && 'pausedUntil' in turn) this.completePauses.add(turn);
  }

  /**
   * Logs a failure instead of throwing. While the event store is away, no turn can be recovered: then the sweep fails as a whole.
   */
  private async attempt({ conversationId, turnId }: UnsealedTurn, how: 'run' | 'recover') {
    try {
      return await this.runner[how](conversationId, turnId);
    } catch (error) {
      if (how === 'recover' && error instanceof StoreUnavailable) throw error;
      this.logger.error(`Turn ${turnId} could not be ${how === 'run' ? how : 'recovered'}; the next sweep tries again.`, error);
      return 'failed';
    }
  }
}
