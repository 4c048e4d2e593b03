import { Injectable } from '@nestjs/common';
import { type UnsealedTurn, UnsealedTurnQueries } from '../../../../projections/unsealed-turns/unsealed-turns.queries.js';
import { ExpirePause } from '../../conversation/pause.commands.js';
import { Commands } from '../../../kernel/commands.js';
import { eachOf } from '../../../kernel/each-of.js';
import { Ids } from '../../../kernel/ids.js';
import { causeOfTick, type Ticker } from '../../../kernel/event-sourcing/ticker.js';
import { TurnRunner } from './turn-runner.js';

const EXPIRE_EVERY_MS = 1_000;
/** Maximum number of pauses that one tick expires, without those that failed before. The others follow in the next tick. */
export const EXPIRED_PAUSES_MAX = 200;

/** Ends paused turns that were not resumed in time, also those that expired while the service was down. */
@Injectable()
export class ExpirePauses implements Ticker {
  readonly name = 'expire-pauses';
  readonly everyMs = EXPIRE_EVERY_MS;
  /** The number of pauses that could not be ended. They are tried again, and do not take the room of others. */
  private failed = 0;

  constructor(
    private readonly turns: UnsealedTurnQueries,
    private readonly commands: Commands,
    private readonly runner: TurnRunner,
    private readonly ids: Ids,
  ) {}

  async tick(now: Date): Promise<void> {
    const expired = await this.turns.expired(now, EXPIRED_PAUSES_MAX + this.failed);
    this.failed = expired.length;
    await eachOf(expired, async (turn) => {
      await this.expire(turn, now);
      this.failed--;
    });
  }

  private async expire({ conversationId, turnId }: UnsealedTurn, now: Date): Promise<void> {
    const cause = causeOfTick(this, this.ids.next());
    const hasExpired = await this.commands.execute(new ExpirePause(conversationId, turnId, now, cause));
    // If the process crashes here, a sweep writes the end of the turn a little later.
    if (hasExpired) await this.runner.recover(conversationId, turnId);
  }
}
