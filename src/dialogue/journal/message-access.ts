import { Injectable } from '@nestjs/common';
import { ConversationQueries } from '../../../projections/conversations/conversations.queries.js';
import { BEGINNING_EVENTS_MAX } from '../conversation/conversation-access.policy.js';
import { conversation } from '../conversation/conversation.decider.js';
import { conversationStream } from '../conversation/conversation.events.js';
import { type JournalAccess, messageStream } from './message.events.js';
import { requireAccess } from '../../resources/identity/access.policy.js';
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

type Found = Readonly<{ conversationId: string; expired: boolean; askedWith: string | undefined }>;

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
    const caller = await identity.callerOrReader();
    if (!caller) throw unauthenticated();
    if (!isId(messageId)) throw notFound();
    const found = (await this.fromJournal(messageId)) ?? (await this.fromReadModel(messageId));
    if (!found) throw notFound();
    const { conversationId, expired, askedWith } = found;
    const began = await this.streams.beginning(conversationStream(conversationId), conversation, BEGINNING_EVENTS_MAX);
    requireAccess(caller, { does: 'replay', conversation: began, askedWith }, notFound);
    if (await this.isDeleted(conversationId)) throw notFound();
    return { messageId, conversationId, expired };
  }

  private async fromJournal(messageId: string): Promise<Found | undefined> {
    const first = await firstEvent(this.store, messageStream(messageId));
    if (first?.revision !== 0) return undefined;
    const { conversationId, accessTokenId: askedWith } = JSON.parse(first.metadata) as JournalAccess;
    return { conversationId, expired: false, askedWith };
  }

  /** The read model does not say which token a question was asked with: to a restricted one an expired journal is gone. */
  private async fromReadModel(messageId: string): Promise<Found | undefined> {
    const found = await this.conversations.conversationOf(messageId);
    return found && { ...found, askedWith: undefined };
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
