import { Injectable, Logger } from '@nestjs/common';
import { UnsealedTurnQueries, type UnsealedTurn } from '../../../../projections/unsealed-turns/unsealed-turns.queries.js';
import { eachOf } from '../../../kernel/each-of.js';
import { Failures } from '../../../kernel/failures.js';
import type { Ticker } from '../../../kernel/event-sourcing/ticker.js';
import { KeyValue, KeyValueUnavailable } from '../../../kernel/messaging/key-value.js';
import { Sightings } from '../../../kernel/sightings.js';
import { Timing } from '../../../kernel/timing.js';
import { WORKER_LEASES } from '../../../work/tasks/task.policy.js';
import { EnqueuedTurns } from '../intake/enqueued-turns.js';
import { AnsweringOptions } from '../loop/answering-options.js';
import { RECOVERED_AT_ONCE_MAX, SweepTurns, SWEPT_TURNS_MAX } from './sweep-turns.ticker.js';
import { UnclaimedTurns } from './unclaimed-turns.js';

const UNCLAIMED_EVERY_MS = 1_000;
/** Maximum number of waiting turns that this process remembers while no worker is alive. The others follow when these are over. */
const WAITING_TURNS_MAX = 10_000;

/**
 * While no worker is alive, the processes that accept questions write notices for the readers, fail questions that have waited
 * too long, and end answers whose worker died. A question's wait counts from when this process saw it without a worker.
 */
@Injectable()
export class EndUnclaimedTurns implements Ticker {
  readonly name = 'end-unclaimed-turns';
  readonly everyMs = UNCLAIMED_EVERY_MS;
  readonly role = 'api';
  private readonly logger = new Logger(EndUnclaimedTurns.name);
  /** Whether the last check found no worker. */
  private isAbsent = false;
  /** The turns that wait while no worker is alive. */
  private readonly waiting: Sightings;
  /** The waiting turns that could not be reported or ended. */
  private readonly failures = new Failures();
  private notified: ReadonlySet<string> = new Set();

  constructor(
    private readonly turns: UnsealedTurnQueries,
    private readonly keyValue: KeyValue,
    private readonly unclaimed: UnclaimedTurns,
    private readonly sweep: SweepTurns,
    private readonly options: AnsweringOptions,
    private readonly enqueued: EnqueuedTurns,
    timing: Timing,
  ) {
    this.waiting = new Sightings(timing);
  }

  async tick(): Promise<void> {
    const wasAbsent = this.isAbsent;
    this.isAbsent = !(await this.mayBeWorkedOn());
    const untaken = this.isAbsent ? await this.untaken() : [];
    const ids = untaken.map(({ turnId }) => turnId);
    this.waiting.look(ids);
    this.failures.retain(ids);
    // Acts only after two checks without a lease, because a worker may be just about to take its lease.
    if (!this.isAbsent || !wasAbsent) return void (this.notified = new Set());
    if (!this.options.settings.worker) await this.sweep.recoverOrphans();
    const waitingFor = (ms: number) => untaken.filter(({ turnId }) => this.waiting.ageMs(turnId) >= ms);
    const { staleProducerMs, noWorkerTurnMs } = this.options.settings;
    for (const { turnId } of await this.each(waitingFor(noWorkerTurnMs), 'end')) this.enqueued.forget(turnId);
    const notified = ({ turnId }: UnsealedTurn): boolean => this.notified.has(turnId);
    const waiting = waitingFor(staleProducerMs);
    const reported = await this.each(
      waiting.filter((turn) => !notified(turn)),
      'report',
    );
    this.notified = new Set([...waiting.filter(notified), ...reported].map(({ turnId }) => turnId));
  }

  /** The turns that wait by the read model, and those that it may not have yet. */
  private async untaken(): Promise<readonly UnsealedTurn[]> {
    const turns = [...(await this.turns.untaken(WAITING_TURNS_MAX)), ...this.enqueued.all];
    return [...new Map(turns.map((turn) => [turn.turnId, turn])).values()];
  }

  /** Whether a worker has a lease, or the store of leases is unavailable and workers may be alive. */
  private async mayBeWorkedOn(): Promise<boolean> {
    try {
      return (await this.keyValue.keys(WORKER_LEASES)).length > 0;
    } catch (error) {
      if (error instanceof KeyValueUnavailable) return true;
      throw error;
    }
  }

  /** Returns the turns that succeeded. The next ticks try the others. */
  private async each(turns: readonly UnsealedTurn[], how: 'report' | 'end'): Promise<readonly UnsealedTurn[]> {
    const done: UnsealedTurn[] = [];
    const attempt = async (turn: UnsealedTurn) => {
      try {
        await this.unclaimed[how](turn.conversationId, turn.turnId);
        done.push(turn);
      } catch (error) {
        this.failures.add(turn.turnId);
        this.logger.error(`Turn ${turn.turnId}, which no worker took, could not be ${how}ed; the next tick tries again.`, error);
      }
    };
    await eachOf(
      this.failures.next(turns, ({ turnId }) => turnId, SWEPT_TURNS_MAX),
      attempt,
      RECOVERED_AT_ONCE_MAX,
    );
    return done;
  }
}
