import { Injectable, Logger } from '@nestjs/common';
import { UnsealedTurnQueries, type UnsealedTurn } from '../../projections/unsealed-turns/unsealed-turns.queries.js';
import { KeyValue, KeyValueUnavailable } from '../kernel/key-value.js';
import { isHeld } from '../kernel/lease.js';
import type { Ticker } from '../kernel/ticker.js';
import { TurnRunner } from './turn-runner.js';

export const SWEEP_EVERY_MS = 1_000;
/** Turns looked at in one sweep, and brought to their end side by side. */
export const SWEPT_TURNS_MAX = 500;
const SETTLED_AT_ONCE_MAX = 8;
/** A turn that was asked this long ago and that nobody took was not heard of: its nudge was lost. */
export const UNHEARD_AFTER_MS = 1_000;

export const producerKey = (producer: string): string => `producer.${producer}`;

/**
 * Finds turns that nobody will bring to their end: asked and never taken (they are run), or taken by a producer that no
 * longer holds its lease, or by this process in a run that failed (their streams get their terminal frames). A turn counts
 * as alone when two sweeps in a row find it so; a wrong guess costs that turn, never the journal, because whoever writes to
 * it names the revision they have read.
 */
@Injectable()
export class SweepTurns implements Ticker {
  readonly name = 'sweep-turns';
  readonly everyMs = SWEEP_EVERY_MS;
  private readonly logger = new Logger(SweepTurns.name);
  private missed = new Set<string>();

  constructor(
    private readonly turns: UnsealedTurnQueries,
    private readonly keyValue: KeyValue,
    private readonly runner: TurnRunner,
  ) {}

  async tick(now: Date): Promise<void> {
    const unsealed = await this.turns.oldest(SWEPT_TURNS_MAX);
    const unheard = unsealed.filter(
      ({ producer, since }) => producer === null && now.getTime() - since.getTime() > UNHEARD_AFTER_MS,
    );
    for (const { conversationId, turnId } of unheard) this.watch(this.runner.run(conversationId, turnId), turnId);
    const orphans = await this.orphansAmong(unsealed);
    for (let first = 0; first < orphans.length; first += SETTLED_AT_ONCE_MAX) {
      const batch = orphans.slice(first, first + SETTLED_AT_ONCE_MAX);
      await Promise.all(batch.map(({ conversationId, turnId }) => this.runner.settle(conversationId, turnId)));
    }
  }

  private async orphansAmong(unsealed: readonly UnsealedTurn[]): Promise<readonly UnsealedTurn[]> {
    const alive = new Map<string, boolean>();
    try {
      for (const { producer } of unsealed) {
        if (producer !== null && !alive.has(producer)) alive.set(producer, await isHeld(this.keyValue, producerKey(producer)));
      }
    } catch (error) {
      // Without the leases nobody can be told alive from dead: nothing is swept, and every count begins anew.
      if (!(error instanceof KeyValueUnavailable)) throw error;
      this.missed = new Set();
      return [];
    }
    const isAlone = ({ producer, turnId }: UnsealedTurn): boolean =>
      producer !== null && (producer === this.runner.producer ? !this.runner.isRunning(turnId) : !alive.get(producer));
    const alone = unsealed.filter(isAlone);
    const orphans = alone.filter(({ turnId }) => this.missed.has(turnId));
    this.missed = new Set(alone.map(({ turnId }) => turnId));
    return orphans;
  }

  private watch(run: Promise<void>, turnId: string): void {
    run.catch((error: unknown) => this.logger.error(`Turn ${turnId} could not be run; the next sweep tries again.`, error));
  }
}
