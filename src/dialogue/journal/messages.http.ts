import { Controller, Get, Headers, Param, Query, Res } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { ConversationQueries } from '../../../projections/conversations/conversations.queries.js';
import { type Message, MessageDigest, noMessage, withFrame } from './message.policy.js';
import { MessageAccess, type OpenedMessage, type ReadableMessage } from './message-access.js';
import { type Frame, isTerminal, messageStream } from './message.events.js';
import { onlookerOf, type SignedInUser } from '../../resources/identity/caller.js';
import type { Identity } from '../../resources/identity/identity.js';
import { RequestIdentity } from '../../resources/identity/identity.http.js';
import { EventStore, REVISION_MAX, type StoredEvent } from '../../kernel/event-sourcing/event-store.js';
import { Rejection } from '../../kernel/rejection.js';
import type { OpenedStream } from '../../platform/http/reader-stream.js';
import { SseStreams } from '../../platform/http/sse.js';
import { FrameTail } from './frame-tail.js';
import { pump } from './pump.js';
import { JournalOptions } from './journal-options.js';
import { TurnActivity } from './turn-activity.js';
import { OptionalHeader, OptionalQuery, type Streamed } from '../../platform/http/documented.js';
import { Access } from '../../platform/http/access.js';

/** Routes that read answers, while they are written and later, with the same bytes. */
@ApiTags('Messages')
@Controller('api/messages/:messageId')
export class MessagesController {
  constructor(
    private readonly access: MessageAccess,
    private readonly frames: FrameTail,
    private readonly activity: TurnActivity,
    private readonly store: EventStore,
    private readonly conversations: ConversationQueries,
    private readonly streams: SseStreams,
    private readonly options: JournalOptions,
  ) {}

  /** Streams the frames after the last one that the client has, and new frames. */
  @ApiOperation({ summary: 'Resume or replay the stream of an answer (Server-Sent Events)' })
  @OptionalHeader('Last-Event-ID')
  @OptionalQuery('last_event_id')
  @Access({ for: 'caller', action: 'read', of: 'messages', scopes: ['conversations:read', 'chat:run'], links: 'too' })
  @Get('events')
  async events(
    @Param('messageId') messageId: string,
    @RequestIdentity() identity: Identity,
    @Headers('last-event-id') header: string | undefined,
    @Query('last_event_id') query: unknown,
    @Res() reply: FastifyReply,
  ): Promise<Streamed<Frame>> {
    if (!this.options.isServed) throw new Rejection('not-found', 'Not found');
    const cursor = header || query || undefined;
    const fromStart = cursor === undefined;
    const message: OpenedMessage = await (fromStart
      ? this.access.opened(messageId, identity)
      : this.access.readable(messageId, identity));
    try {
      const after = cursorOf(cursor);
      const reader = onlookerOf(await identity.callerOrReader());
      if (message.expired) throw expired();
      if (this.streams.size >= this.options.streamsMax) {
        throw new Rejection('too-many-requests', 'Too many concurrent streams');
      }
      this.streams.serve(reply, (sse) => this.send(message, after, reader, sse));
    } catch (error) {
      await message.started?.journal.close();
      throw error;
    }
  }

  /** The state of a message, for clients that poll after a reload. */
  @ApiOperation({ summary: 'The state of an answer, for polling' })
  @Access({ for: 'caller', action: 'read', of: 'messages', scopes: ['conversations:read', 'chat:run'], links: 'too' })
  @Get('tail')
  async tail(@Param('messageId') messageId: string, @RequestIdentity() identity: Identity) {
    const message = await this.access.readable(messageId, identity);
    if (message.expired) return this.conversations.messageTail(messageId);
    const { soFar, lastAt } = await this.read(message);
    return {
      message_id: messageId,
      status: statusOf(soFar),
      response: soFar.parts.answer,
      thought: soFar.parts.thought,
      sources: soFar.parts.sources,
      tool_calls: soFar.parts.toolCalls,
      request_id: soFar.requestId,
      last_heartbeat_at: lastAt,
      error: soFar.error?.text ?? null,
    };
  }

  /** The digest of the shown frames. Readers that got the same bytes get the same digest. */
  @ApiOperation({ summary: 'SHA-256 over the id: and data: lines of an answer' })
  @Access({ for: 'caller', action: 'read', of: 'messages', scopes: ['conversations:read', 'chat:run'], links: 'too' })
  @Get('digest')
  async digest(@Param('messageId') messageId: string, @RequestIdentity() identity: Identity) {
    const message = await this.access.readable(messageId, identity);
    if (message.expired) throw expired();
    const digest = new MessageDigest();
    let last: StoredEvent | undefined;
    for await (const page of this.store.read(messageStream(messageId))) {
      for (const { revision, data } of page) digest.add(revision, data);
      last = page.at(-1);
    }
    const complete =
      last !== undefined &&
      isTerminal(last.data) &&
      (await this.activity.endsWith(message.conversationId, messageId, last.revision));
    return { message_id: messageId, frames: digest.frames, last_id: digest.lastId, sha256: digest.hex(), complete };
  }

  private async send(message: OpenedMessage, after: number, reader: SignedInUser | undefined, sse: OpenedStream): Promise<void> {
    const { messageId: turnId, conversationId, started } = message;
    try {
      await sse.comment('connected');
      await pump(this.frames.reading({ conversationId, turnId }, after, sse.departure, reader, started), sse);
    } finally {
      await started?.journal.close();
    }
  }

  private async read({ messageId }: ReadableMessage): Promise<{ soFar: Message; lastAt: Date | null }> {
    let soFar = noMessage;
    let lastAt: Date | null = null;
    for await (const page of this.store.read(messageStream(messageId))) {
      soFar = page.reduce((message, { data }) => withFrame(message, JSON.parse(data) as Frame), soFar);
      lastAt = page.at(-1)!.at;
    }
    return { soFar, lastAt };
  }
}

const expired = () => new Rejection('journal-expired', 'The events of this message are no longer kept; read the conversation.');

/**
 * Parses a cursor: the id of the last frame that the client has, or -1. Cursors past the end are equivalent. @throws Rejection
 * invalid-request
 */
export function cursorOf(given: unknown): number {
  if (given === undefined) return -1;
  if (typeof given !== 'string' || !/^\d+$/.test(given.trim()))
    throw new Rejection('invalid-request', 'last_event_id must be a whole number, 0 or more.');
  return Math.min(Number(given), REVISION_MAX - 1);
}

/** The status for polling clients. A paused message counts as streaming, until it is resumed or expires. */
export function statusOf(message: Message): 'pending' | 'streaming' | 'complete' | 'failed' {
  if (message.pending.length > 0) return 'streaming';
  if (message.last === 'end') return message.error ? 'failed' : 'complete';
  if (message.error) return 'complete';
  return message.parts.answer === '' ? 'pending' : 'streaming';
}
