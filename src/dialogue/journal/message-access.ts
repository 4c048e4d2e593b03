import { Injectable } from '@nestjs/common';
import { ConversationQueries } from '../../../projections/conversations/conversations.queries.js';
import { BEGINNING_EVENTS_MAX, belongsTo } from '../conversation/conversation-access.policy.js';
import { conversation } from '../conversation/conversation.decider.js';
import { conversationStream } from '../conversation/conversation.events.js';
import { type JournalAccess, messageStream } from './message.events.js';
import { type Identity, unauthenticated } from '../../resources/identity/identity.js';
import { EventStore, firstEvent, type StreamReading } from '../../kernel/event-sourcing/event-store.js';
import { isId } from '../../kernel/ids.js';
import { Rejection } from '../../kernel/rejection.js';
import { Streams } from '../../kernel/event-sourcing/streams.js';

/** Most conversations end with fewer seals in a row. */
const SEALS_READ_FIRST = 4;

const notFound = () => new Rejection('message-not-found', 'Not found');

/** A message that the caller may read. `expired`: its journal is past its retention; the conversation still has the answer. */
export type ReadableMessage = Readonly<{ messageId: string; conversationId: string; expired: boolean }>;

/**
 * Who may read and stop a message: those to whom its conversation belongs. An unknown message and somebody else's look the same.
 * Decided on the conversation that the journal's own first frame names, so that a reader can be let in before any read model
 * knows of the message.
 */
@Injectable()
export class MessageAccess {
  constructor(
    private readonly store: EventStore,
    private readonly streams: Streams,
    private readonly conversations: ConversationQueries,
  ) {}

  /** @throws Rejection unauthenticated, unknown-agent-key, message-not-found */
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

  /** After the deletion of a conversation only the seals of its streams are appended: of many parallel turns there are many. */
  private async isDeleted(conversationId: string): Promise<boolean> {
    const stream = conversationStream(conversationId);
    let reading: StreamReading = { direction: 'backwards', limit: SEALS_READ_FIRST };
    for (;;) {
      let earliest = 0;
      for await (const page of this.store.read(stream, reading)) {
        for (const { type, revision } of page) {
          if (type !== 'TurnSealed') return type === 'ConversationDeleted';
          earliest = revision;
        }
      }
      if (earliest === 0) return false;
      reading = { direction: 'backwards', from: earliest - 1 };
    }
  }
}
