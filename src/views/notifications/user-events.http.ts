import { Controller, Get, Headers, Query, Res } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import type { SignedInUser } from '../../resources/identity/caller.js';
import { unauthenticated } from '../../resources/identity/identity.js';
import { UserIfSignedIn } from '../../resources/identity/identity.http.js';
import { Rejection } from '../../kernel/rejection.js';
import type { OpenedStream } from '../../platform/http/reader-stream.js';
import { SseStreams } from '../../platform/http/sse.js';
import { ConnectionSlots, type Release } from './connection-slots.js';
import { ReplayBudget } from './replay-budget.js';
import { type Beginning, UserBacklog } from './user-backlog.js';
import { type BacklogTruncated, idIn, type UserEventId } from './user-event.policy.js';
import { UserEventStream } from './user-event-stream.js';
import { type UserEvent, userStream } from './user.events.js';
import { UserEventsOptions } from './user-events-options.js';
import { OptionalHeader, OptionalQuery, type Streamed } from '../../platform/http/documented.js';
import { Access } from '../../platform/http/access.js';

/** The notifications of a user, for every open tab. */
@ApiTags('User events')
@Controller('api/events')
export class UserEventsController {
  constructor(
    private readonly backlog: UserBacklog,
    private readonly budget: ReplayBudget,
    private readonly events: UserEventStream,
    private readonly slots: ConnectionSlots,
    private readonly streams: SseStreams,
    private readonly options: UserEventsOptions,
  ) {}

  /** The events after the client's last event and then new events. Without a cursor, only new events. */
  @ApiOperation({ summary: 'The events of the signed-in user (Server-Sent Events)' })
  @OptionalHeader('Last-Event-ID')
  @OptionalQuery('last_event_id')
  @Access({ for: 'user', action: 'read', of: 'user events', userIsAskedLater: true })
  @Get()
  async follow(
    @UserIfSignedIn() user: SignedInUser | undefined,
    @Headers('last-event-id') header: string | undefined,
    @Query('last_event_id') query: unknown,
    @Res() reply: FastifyReply,
  ): Promise<Streamed<UserEvent | BacklogTruncated>> {
    const { realtimeRoutes, pushEnabled, streamsMax } = this.options.settings;
    if (!realtimeRoutes) throw new Rejection('not-found', 'Not found');
    if (!user) throw unauthenticated();
    const cursor = cursorOf(header || query);
    if (this.streams.size >= streamsMax) throw new Rejection('too-many-requests', 'Too many concurrent streams');
    if (!pushEnabled) return this.sayDisabled(reply);
    const release = await this.slotOf(user.userId);
    try {
      if (cursor) await this.spend(user.userId, reply);
      // The beginning is fixed before the client knows that it is connected, so it is notified of everything that it does next.
      const beginning = await this.backlog.beginning(userStream(user.userId), cursor);
      this.streams.serve(reply, (sse) => this.send(user.userId, beginning, sse, release));
    } catch (error) {
      await release?.();
      throw error;
    }
  }

  private async send(userId: string, beginning: Beginning, sse: OpenedStream, release: Release | undefined): Promise<void> {
    try {
      await sse.comment('connected');
      await this.events.send(userId, beginning, sse, sse.departure);
      // The slot is released before the stream ends, so that a client that reconnects at once finds it free.
      await release?.();
      sse.end();
    } finally {
      await release?.();
    }
  }

  private async sayDisabled(reply: FastifyReply): Promise<void> {
    const sse = this.streams.start(reply);
    await sse.comment('connected');
    await sse.comment('push_disabled');
    sse.end();
  }

  private async slotOf(userId: string): Promise<Release | undefined> {
    if (this.options.settings.connectionsPerUserMax === 0) return undefined;
    const release = await this.slots.take(userId);
    if (!release) throw new Rejection('too-many-event-streams', 'Too many concurrent SSE connections');
    return release;
  }

  private async spend(userId: string, reply: FastifyReply): Promise<void> {
    const waitSeconds = await this.budget.spend(userId);
    if (waitSeconds === undefined) return;
    void reply.header('Retry-After', String(waitSeconds));
    throw new Rejection('replay-budget-exhausted', 'Replay budget exhausted');
  }
}

/** @throws Rejection invalid-request */
function cursorOf(given: unknown): UserEventId | undefined {
  if (given === undefined || given === '') return undefined;
  const cursor = typeof given === 'string' ? idIn(given) : undefined;
  if (!cursor) throw new Rejection('invalid-request', 'last_event_id must be the id of an event, like 1700000000000-7.');
  return cursor;
}
