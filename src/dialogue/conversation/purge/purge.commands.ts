import { CommandHandler } from '@nestjs/cqrs';
import { Clock } from '../../../kernel/clock.js';
import { Command, type Handler } from '../../../kernel/commands.js';
import type { Cause } from '../../../kernel/event-sourcing/events.js';
import { Streams } from '../../../kernel/event-sourcing/streams.js';
import { conversation } from '../conversation.decider.js';
import { conversationStream } from '../conversation.events.js';
import { purgeConversation, purgeTurns } from './purge.decider.js';
import type { PurgeableConversation } from './purgeable-conversation.policy.js';

/** Maximum size of an event about purged turns. */
export const PURGED_TURNS_BYTES_MAX = 256 * 1024;

/** Records the purge of a deleted conversation. A repetition records what is still missing. */
export class PurgeConversation extends Command {
  constructor(
    readonly purgeable: PurgeableConversation,
    readonly cause: Cause,
  ) {
    super();
  }
}

@CommandHandler(PurgeConversation)
export class PurgeConversationHandler implements Handler<PurgeConversation> {
  constructor(
    private readonly streams: Streams,
    private readonly clock: Clock,
  ) {}

  async execute({ purgeable: { kept, turns }, cause }: PurgeConversation): Promise<void> {
    const { conversationId, ownerId, keptFrom } = kept;
    const stream = conversationStream(conversationId);
    const next = purgeTurns({ conversationId, ownerId, keptFrom }, turns, PURGED_TURNS_BYTES_MAX);
    while ((await this.streams.transact(stream, conversation, next, cause)).events.length > 0);
    const all = purgeConversation({ ...kept, purgedAt: this.clock.now().toISOString() });
    await this.streams.transact(stream, conversation, all, cause);
  }
}
