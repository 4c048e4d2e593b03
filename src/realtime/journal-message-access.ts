import { Injectable } from '@nestjs/common';
import { ConversationQueries } from '../../projections/conversations/conversations.queries.js';
import { BEGINNING_EVENTS_MAX, belongsTo } from '../conversation/conversation-access.policy.js';
import { conversation } from '../conversation/conversation.decider.js';
import { MessageAccess, type ReadableMessage } from '../conversation/message-access.port.js';
import { conversationStream } from '../conversation/conversation.events.js';
import { type JournalAccess, messageStream } from '../conversation/message.events.js';
import { type Identity, unauthenticated } from '../identity/identity.js';
import { EventStore, firstEvent, lastEvent } from '../kernel/event-store.js';
import { isId } from '../kernel/ids.js';
import { Rejection } from '../kernel/rejection.js';
import { Streams } from '../kernel/streams.js';

const notFound = () => new Rejection('message-not-found', 'Not found');

/**
 * Decided on the conversation that the journal's own first frame names, so that a reader can be let in before any read model
 * knows of the message.
 */
@Injectable()
export class JournalMessageAccess extends MessageAccess {
  constructor(
    private readonly store: EventStore,
    private readonly streams: Streams,
    private readonly conversations: ConversationQueries,
  ) {
    super();
  }

  async readable(messageId: string, identity: Identity): Promise<ReadableMessage> {
    const caller = await identity.caller();
    if (!caller) throw unauthenticated();
    if (!isId(messageId)) throw notFound();
    const found = (await this.fromJournal(messageId)) ?? (await this.conversations.conversationOf(messageId));
    if (!found) throw notFound();
    const { conversationId, expired } = found;
    const began = await this.streams.beginning(conversationStream(conversationId), conversation, BEGINNING_EVENTS_MAX);
    if (!belongsTo(began, caller) || (await this.isDeleted(conversationId))) throw notFound();
    return { messageId, conversationId, expired };
  }

  private async fromJournal(messageId: string): Promise<{ conversationId: string; expired: boolean } | undefined> {
    const first = await firstEvent(this.store, messageStream(messageId));
    if (first?.revision !== 0) return undefined;
    const { conversationId } = JSON.parse(first.metadata) as JournalAccess;
    return { conversationId, expired: false };
  }

  /** After the deletion of a conversation nothing is stated but that its streams were closed. */
  private async isDeleted(conversationId: string): Promise<boolean> {
    for (let upTo: number | undefined; ;) {
      const last = await lastEvent(this.store, conversationStream(conversationId), upTo);
      if (last?.type !== 'TurnSealed') return last?.type === 'ConversationDeleted';
      upTo = last.revision - 1;
    }
  }
}
