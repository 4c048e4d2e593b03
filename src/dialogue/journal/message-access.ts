import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { ConversationQueries } from '../../../projections/conversations/conversations.queries.js';
import { conversation } from '../conversation/conversation.decider.js';
import { conversationStream } from '../conversation/conversation.events.js';
import type { Conversation } from '../conversation/turn.policy.js';
import { type JournalAccess, messageStream, type TurnToRun } from './message.events.js';
import { OpenedJournal } from './opened-journal.js';
import { requireAccess } from '../../resources/identity/access.policy.js';
import type { Caller } from '../../resources/identity/caller.js';
import { type Identity, unauthenticated } from '../../resources/identity/identity.js';
import { EventStore, firstEvent, type StoredTexts } from '../../kernel/event-sourcing/event-store.js';
import { isId } from '../../kernel/ids.js';
import { Rejection } from '../../kernel/rejection.js';
import { Timing } from '../../kernel/timing.js';
import { type Folded, Streams } from '../../kernel/event-sourcing/streams.js';

const notFound = () => new Rejection('message-not-found', 'Not found');

/**
 * A message that the caller may read. `expired`: its journal is past its retention, but the conversation still has the answer.
 */
export type ReadableMessage = Readonly<{ messageId: string; conversationId: string; expired: boolean }>;

/** What the access check has read: the first page of the journal, and the conversation after that. */
export type StartedReading = Readonly<{ journal: OpenedJournal; conversation: Folded<Conversation> }>;

export type OpenedMessage = ReadableMessage & Readonly<{ started?: StartedReading }>;

type Found = Readonly<{ conversationId: string; expired: boolean; askedWith: string | undefined }>;

/** Maximum number of messages whose conversations are cached, about 200 bytes each. */
export const RECENT_MESSAGES_MAX = 10_000;
/** Maximum size of the cached journals together. */
export const RECENT_JOURNALS_CHARACTERS_MAX = 4 * 1024 * 1024;
/** How long a journal is cached. It can be read for this time after the store has deleted it because of its age. */
export const RECENT_JOURNAL_MS = 1_000;

/** What this process knows of messages that it has read, so that the next reader waits for fewer reads. */
@Injectable()
export class RecentMessages {
  private readonly conversations = new LRUCache<string, string>({ max: RECENT_MESSAGES_MAX });
  private readonly journals: LRUCache<string, StoredTexts>;

  constructor(timing: Timing) {
    this.journals = new LRUCache({
      maxSize: RECENT_JOURNALS_CHARACTERS_MAX,
      sizeCalculation: ({ texts }) => texts.reduce((characters, text) => characters + text.length, 1),
      ttl: RECENT_JOURNAL_MS,
      ttlResolution: 0,
      perf: { now: () => timing.elapsedMs() },
    });
  }

  note({ conversationId, turnId }: TurnToRun): void {
    this.conversations.set(turnId, conversationId);
  }

  /** A message never changes its conversation, so its journal and its conversation can be read at once. */
  conversationOf(messageId: string): string | undefined {
    return this.conversations.get(messageId);
  }

  /** Caches the first page of a finished answer's journal, which never changes. Readers look in the store for what follows it. */
  noteJournal(messageId: string, journal: StoredTexts): void {
    this.journals.set(messageId, journal);
  }

  journalOf(messageId: string): StoredTexts | undefined {
    return this.journals.get(messageId);
  }
}

/**
 * Decides who may read and stop a message: the parties of its conversation. An unknown message and one of another user get the
 * same error. The first frame of the journal names the conversation, so a reader is admitted before any read model has the
 * message.
 */
@Injectable()
export class MessageAccess {
  constructor(
    private readonly store: EventStore,
    private readonly streams: Streams,
    private readonly conversations: ConversationQueries,
    private readonly recent: RecentMessages,
  ) {}

  /** @throws Rejection unauthenticated, unknown-agent-key, message-not-found */
  async readable(messageId: string, identity: Identity): Promise<ReadableMessage> {
    const { expired, conversationId } = await this.reached(messageId, identity, async (id) => {
      const first = await firstEvent(this.store, messageStream(id));
      return first?.revision === 0 ? first.metadata : undefined;
    });
    return { messageId, conversationId, expired };
  }

  /** Checks access to a message of a conversation that was asked with this token, if any. @throws Rejection message-not-found */
  async requireReadable(conversationId: string, askedWith: string | undefined, caller: Caller): Promise<void> {
    const { state } = await this.read(conversationId);
    requireAccess(caller, { does: 'replay', conversation: state, askedWith }, notFound);
    if (state.status === 'deleted') throw notFound();
  }

  /** As `readable`, for readers that start at the first frame. */
  async opened(messageId: string, identity: Identity): Promise<OpenedMessage> {
    const recent = this.recent.journalOf(messageId);
    let journal = recent && new OpenedJournal(recent);
    try {
      const { expired, conversationId, folded } = await this.reached(messageId, identity, async (id) => {
        journal ??= await OpenedJournal.open(this.store, id);
        return journal?.first.metadata;
      });
      if (expired) await journal?.close();
      else if (!recent && journal && sealed(folded, messageId)) this.recent.noteJournal(messageId, journal.first);
      return { messageId, conversationId, expired, ...(journal && !expired && { started: { journal, conversation: folded } }) };
    } catch (error) {
      await journal?.close();
      throw error;
    }
  }

  private async reached(messageId: string, identity: Identity, metadataOf: (id: string) => Promise<string | undefined>) {
    const caller = await identity.callerOrReader();
    if (!caller) throw unauthenticated();
    if (!isId(messageId)) throw notFound();
    const recentId = this.recent.conversationOf(messageId);
    const early = recentId === undefined ? undefined : this.read(recentId).catch(() => undefined);
    const found = foundIn(await metadataOf(messageId)) ?? (await this.fromReadModel(messageId));
    if (!found) throw notFound();
    const folded = sealed(await early, messageId) ?? (await this.read(found.conversationId));
    requireAccess(caller, { does: 'replay', conversation: folded.state, askedWith: found.askedWith }, notFound);
    if (folded.state.status === 'deleted') throw notFound();
    return { ...found, folded };
  }

  private read(conversationId: string): Promise<Folded<Conversation>> {
    return this.streams.foldOnwards(conversationStream(conversationId), conversation);
  }

  /** Finds an expired message. The read model does not have the token of a question, so a restricted token cannot read it. */
  private async fromReadModel(messageId: string): Promise<Found | undefined> {
    const found = await this.conversations.conversationOf(messageId);
    return found && { ...found, askedWith: undefined };
  }
}

/**
 * The conversation, if it states that the journal is complete. Otherwise it is read after the frame, so that it is at least as new
 * as the shown frames.
 */
const sealed = (read: Folded<Conversation> | undefined, messageId: string): Folded<Conversation> | undefined =>
  read?.state.turns.get(messageId)?.sealed ? read : undefined;

/** Finds a message by the metadata of its first frame, if that is kept. */
function foundIn(metadata: string | undefined): Found | undefined {
  if (metadata === undefined) return undefined;
  const { conversationId, accessTokenId: askedWith } = JSON.parse(metadata) as JournalAccess;
  return { conversationId, expired: false, askedWith };
}
