import { Injectable, Logger } from '@nestjs/common';
import { type UnsealedTurn, UnsealedTurnQueries } from '../../projections/unsealed-turns/unsealed-turns.queries.js';
import { conversation } from '../conversation/conversation.decider.js';
import { conversationStream } from '../conversation/conversation.events.js';
import { expire } from '../conversation/pause.decider.js';
import type { Cause } from '../kernel/events.js';
import { newId } from '../kernel/ids.js';
import { Streams } from '../kernel/streams.js';
import type { Ticker } from '../kernel/ticker.js';
import { TurnRunner } from './turn-runner.js';

export const EXPIRE_EVERY_MS = 1_000;
/** Pauses that one tick ends; the others have their turn in the next. */
export const EXPIRED_PAUSES_MAX = 200;

/** Ends the turns that nobody resumed in time, also those whose time ran out while the service was down. */
@Injectable()
export class ExpirePauses implements Ticker {
  readonly name = 'expire-pauses';
  readonly everyMs = EXPIRE_EVERY_MS;
  private readonly logger = new Logger(ExpirePauses.name);

  constructor(
    private readonly turns: UnsealedTurnQueries,
    private readonly streams: Streams,
    private readonly runner: TurnRunner,
  ) {}

  async tick(now: Date): Promise<void> {
    const expired = await this.turns.expired(now, EXPIRED_PAUSES_MAX);
    const id = newId();
    const cause: Cause = { actor: `system:${this.name}`, credential: 'system', correlationId: id, causationId: id };
    for (const turn of expired) await this.attempt(turn, now, cause);
  }

  /** One that cannot be ended must not keep the others from their end. */
  private async attempt({ conversationId, turnId }: UnsealedTurn, now: Date, cause: Cause): Promise<void> {
    try {
      const stream = conversationStream(conversationId);
      const { events } = await this.streams.transact(stream, conversation, expire(turnId, now), cause);
      // Should this be cut short, a sweep shows the end of the turn a little later.
      if (events.length > 0) await this.runner.settle(conversationId, turnId);
    } catch (error) {
      this.logger.error(`The pause of turn ${turnId} could not be ended; the next tick tries again.`, error);
    }
  }
}
