import { Injectable } from '@nestjs/common';
import { ConversationQueries } from '../../projections/conversations/conversations.queries.js';
import { MessageAccess, type ReadableMessage } from '../conversation/message-access.port.js';
import { conversationStream } from '../conversation/conversation.events.js';
import { type JournalAccess, messageStream } from '../conversation/message.events.js';
import { type Identity, unauthenticated } from '../identity/identity.js';
import { EventStore, type StoredEvent } from '../kernel/event-store.js';
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
    const first = await this.one(messageStream(messageId), 'forwards');
    if (first?.revision !== 0) return undefined;
    return { ...(JSON.parse(first.metadata) as JournalAccess), expired: false };
  }

  /** After the deletion of a conversation nothing is stated but that its streams were closed. */
  private async isDeleted(conversationId: string): Promise<boolean> {
    for (let from: number | undefined; ;) {
      const last = await this.one(conversationStream(conversationId), 'backwards', from);
      if (last?.type !== 'TurnSealed') return last?.type === 'ConversationDeleted';
      from = last.revision - 1;
    }
  }

  private async one(stream: string, direction: 'forwards' | 'backwards', from?: number): Promise<StoredEvent | undefined> {
    const options = { direction, limit: 1, ...(from === undefined ? {} : { from }) };
    for await (const page of this.store.read(stream, options)) return page[0];
    return undefined;
  }
}
