import { Injectable } from '@nestjs/common';
import { ConversationQueries } from '../../../projections/conversations/conversations.queries.js';
import { Freshness, requireReached } from '../../kernel/event-sourcing/freshness.js';
import type { Folded } from '../../kernel/event-sourcing/streams.js';
import type { TurnId } from './conversation.events.js';
import { type EarlierTurn, EarlierTurns } from './earlier-turns.port.js';
import type { Conversation } from './turn.policy.js';

/** Finds earlier turns in the read model, after that has reached the position of the fold. */
@Injectable()
export class ReadModelEarlierTurns extends EarlierTurns {
  constructor(
    private readonly conversations: ConversationQueries,
    private readonly freshness: Freshness,
  ) {
    super();
  }

  protected async leftOutById(known: Folded<Conversation>, turnId: TurnId): Promise<EarlierTurn | undefined> {
    await this.reached(known);
    return this.conversations.turnById(known.state.id, turnId);
  }

  protected async leftOutAt(known: Folded<Conversation>, index: number): Promise<EarlierTurn | undefined> {
    await this.reached(known);
    return this.conversations.turnAt(known.state.id, index);
  }

  private async reached({ position }: Folded<Conversation>): Promise<void> {
    if (position !== undefined) await requireReached(this.freshness, ['conversations'], position);
  }
}
