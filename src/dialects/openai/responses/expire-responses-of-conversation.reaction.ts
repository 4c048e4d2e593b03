import { Injectable } from '@nestjs/common';
import { ExpiringQueries } from '../../../../projections/expiring/expiring.queries.js';
import { conversationCodec } from '../../../dialogue/conversation/conversation.codec.js';
import type { TurnsPurged } from '../../../dialogue/conversation/conversation.events.js';
import { Commands } from '../../../kernel/commands.js';
import { eachOf } from '../../../kernel/each-of.js';
import type { Codec } from '../../../kernel/event-sourcing/codec.js';
import { causedBy, type Recorded } from '../../../kernel/event-sourcing/events.js';
import { Freshness, requireReached } from '../../../kernel/event-sourcing/freshness.js';
import type { Reaction } from '../../../kernel/event-sourcing/reaction.js';
import { ExpireResponse } from './response.commands.js';

/**
 * Responses expire with the turns whose journals they are read from, because a response stores the input of the turn. Steps: wait
 * until the read model lists all responses that were created before the purge, then expire each. After a crash, the reaction
 * repeats for the responses that are left.
 */
@Injectable()
export class ExpireResponsesOfConversation implements Reaction<TurnsPurged> {
  readonly name = 'expire-responses-of-conversation';
  readonly categories = ['conversation'];
  readonly codec: Codec<TurnsPurged> = conversationCodec;
  readonly on = { TurnsPurged: (event: Recorded<TurnsPurged>) => this.expire(event) };

  constructor(
    private readonly commands: Commands,
    private readonly expiring: ExpiringQueries,
    private readonly freshness: Freshness,
  ) {}

  private async expire(event: Recorded<TurnsPurged>): Promise<void> {
    await requireReached(this.freshness, ['expiring'], event.position);
    const cause = causedBy(event, `system:${this.name}`);
    const responses = await this.expiring.responsesOf(event.data.turns.map(({ turnId }) => turnId));
    await eachOf(responses, (responseId) => this.commands.execute(new ExpireResponse(responseId, cause)));
  }
}
