import { Injectable } from '@nestjs/common';
import { type UnsealedTurn, UnsealedTurnQueries } from '../../../../projections/unsealed-turns/unsealed-turns.queries.js';
import { ExpirePause } from '../../conversation/pause.commands.js';
import { Commands } from '../../../kernel/commands.js';
import { eachOf } from '../../../kernel/each-of.js';
import { Failures } from '../../../kernel/failures.js';
import { Ids } from '../../../kernel/ids.js';
import { causeOfTick, type Ticker } from '../../../kernel/event-sourcing/ticker.js';
import { TurnRunner } from './turn-runner.js';

const EXPIRE_EVERY_MS = 1_000;
/** Maximum number of pauses that one tick expires. The others follow in the next tick. */
export const EXPIRED_PAUSES_MAX = 200;

const idOf = ({ turnId }: UnsealedTurn): string => turnId;

/** Ends paused turns that were not resumed in time, also those that expired while the service was down. */
@Injectable()
export class ExpirePauses implements Ticker {
  readonly name = 'expire-pauses';
  readonly everyMs = EXPIRE_EVERY_MS;
  /** The pauses that could not be ended. */
  private readonly failures = new Failures();

  constructor(
    private readonly turns: UnsealedTurnQueries,
    private readonly commands: Commands,
    private readonly runner: TurnRunner,
    private readonly ids: Ids,
  ) {}

  async tick(now: Date): Promise<void> {
    const expired = await this.turns.expired(now, this.failures.pageFor(EXPIRED_PAUSES_MAX));
    this.failures.retain(expired.map(idOf));
    const next = this.failures.next(expired, idOf, EXPIRED_PAUSES_MAX);
    await eachOf(next, (turn) => this.failures.attempt(turn.turnId, () => this.expire(turn, now)));
  }

  private async expire({ conversationId, turnId }: UnsealedTurn, now: Date): Promise<void> {
    const cause = causeOfTick(this, this.ids.next());
    const hasExpired = await this.commands.execute(new ExpirePause(conversationId, turnId, now, cause));
    // If the process crashes here, a sweep writes the end of the turn a little later.
    if (hasExpired) await this.runner.recover(conversationId, turnId);
  }
}
