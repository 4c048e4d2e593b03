import { Injectable } from '@nestjs/common';
import { ConversationQueries } from '../../projections/conversations/conversations.queries.js';
import { MessageAccess, type ReadableMessage } from '../conversation/message-access.port.js';
import { conversationStream } from '../conversation/conversation.events.js';
import { type JournalAccess, messageStream } from '../conversation/message.events.js';
import { type Identity, unauthenticated } from '../identity/identity.js';
import { EventStore, firstEvent, lastEvent } from '../kernel/event-store.js';
import { isId } from '../kernel/ids.js';
import { Rejection } from '../kernel/rejection.js';

const notFound = () => new Rejection('message-not-found', 'Not found');

/** Decided on the journal's own first frame, so that a reader can be let in before any read model knows of the message. */
@Injectable()
export class JournalMessageAccess extends MessageAccess {
  constructor(
    private readonly store: EventStore,
    private readonly conversations: ConversationQueries,
  ) {
    super();
  }

  async readable(messageId: string, identity: Identity): Promise<ReadableMessage> {
    const holder = await identity.agentKey();
    if (!identity.user && !holder) throw unauthenticated();
    if (!isId(messageId)) throw notFound();
    const found = (await this.fromJournal(messageId)) ?? (await this.conversations.accessOf(messageId));
    if (!found) throw notFound();
    const mayRead = found.ownerId === identity.user?.userId || (holder !== undefined && found.agentKeyId === holder.keyId);
    if (!mayRead || (await this.isDeleted(found.conversationId))) throw notFound();
    return { messageId, conversationId: found.conversationId, expired: found.expired };
  }

  private async fromJournal(messageId: string): Promise<(JournalAccess & { expired: boolean }) | undefined> {
    const first = await firstEvent(this.store, messageStream(messageId));
    if (first?.revision !== 0) return undefined;
    return { ...(JSON.parse(first.metadata) as JournalAccess), expired: false };
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
