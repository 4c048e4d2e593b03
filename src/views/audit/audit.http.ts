import { Readable } from 'node:stream';
import { Controller, Get, Headers, Param, Query, Res } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { type AuditEvent, type AuditLine, auditLine } from '../../../projections/audit-log/audit-event.js';
import {
  type AuditFilter,
  AuditLogQueries,
  BEFORE_ALL,
  type LocatedFilter,
  POSITION_MAX,
} from '../../../projections/audit-log/audit-log.queries.js';
import { Freshness } from '../../kernel/event-sourcing/freshness.js';
import { LastWrites } from '../../kernel/event-sourcing/last-writes.js';
import { may } from '../../resources/identity/access.policy.js';
import type { SignedInUser } from '../../resources/identity/caller.js';
import { CurrentUser } from '../../resources/identity/identity.http.js';
import { Rejection } from '../../kernel/rejection.js';
import { AuditEventsQuery, PAGE_DEFAULT, PAGE_MAX } from './audit.dto.js';
import { isCutOff, isOwnTrace, SUMMARIES, type TraceNode, traceOf } from './trace.policy.js';
import { type Lines, OptionalQuery, type Sent } from '../../platform/http/documented.js';
import { momentIn } from '../../platform/http/moments.js';
import { Access } from '../../platform/http/access.js';

/** A longer chain is truncated. The response says whether it is truncated or has lost events to purges. */
const TRACE_EVENTS_MAX = 5_000;

const LINES = 'application/x-ndjson';
/** The length of lines that are handed over together. A line may be longer. */
const PIECE_LENGTH = 64 * 1024;

/** The log for audits. Users see events that they or their keys, tokens, devices, webhooks and links caused. Admins see all events. */
@ApiTags('Audit')
@Controller('api/audit')
export class AuditController {
  constructor(
    private readonly auditLog: AuditLogQueries,
    private readonly freshness: Freshness,
    private readonly lastWrites: LastWrites,
  ) {}

  @ApiOperation({ summary: 'Events in the order of the log. With Accept: application/x-ndjson, all of them, one per line' })
  @OptionalQuery('stream', 'type', 'actor', 'correlation', 'from', 'to', 'after', 'limit')
  @Access({ for: 'user', action: 'read', of: 'audit' })
  @Get('events')
  async events(
    @CurrentUser() user: SignedInUser,
    @Query() query: AuditEventsQuery,
    @Headers('accept') accept: string | undefined,
    @Res() reply: FastifyReply,
  ): Promise<Sent<AuditPage, Lines<AuditLine>>> {
    await this.ownWritesOf(user);
    const filter = await this.auditLog.located({
      ...filterOf(query),
      ...(!may(user, { does: 'see-all' }) && { visibleActors: await this.auditLog.actorsOf(user.cause.actor) }),
    });
    const after = positionOf(query.after);
    if (accept?.includes(LINES)) {
      const lines = Readable.from(this.lines(filter, after, query.limit ?? Infinity));
      await reply.header('Content-Type', `${LINES}; charset=utf-8`).header('Cache-Control', 'no-store').send(lines);
      return;
    }
    const limit = query.limit ?? PAGE_DEFAULT;
    const { events, next } = await this.auditLog.page(filter, after, limit);
    const body = `{"success":true,"events":[${events.map(auditLine).join()}],"next":${next === undefined ? 'null' : `"${next}"`}}`;
    await reply.header('Content-Type', 'application/json; charset=utf-8').header('Cache-Control', 'no-store').send(body);
  }

  @ApiOperation({
    summary: 'The tree of events that a request caused, up to the last frame, by the id of the request or of any of its events',
  })
  @Access({ for: 'user', action: 'read', of: 'audit' })
  @Get('trace/:id')
  async trace(@CurrentUser() user: SignedInUser, @Param('id') id: string) {
    await this.ownWritesOf(user);
    const correlationId = await this.auditLog.correlationOf(id);
    if (correlationId === undefined) throw notFound();
    const events = await this.auditLog.chain(correlationId, TRACE_EVENTS_MAX + 1, SUMMARIES);
    if (!may(user, { does: 'see-all' }) && !isOwnTrace(events, await this.auditLog.actorsOf(user.cause.actor))) throw notFound();
    const shown = events.slice(0, TRACE_EVENTS_MAX);
    const [first] = shown;
    if (!first) throw notFound();
    return {
      success: true,
      correlation_id: correlationId,
      request: { actor: first.actor, credential: first.credential, at: first.at.toISOString() },
      events: shown.length,
      truncated: events.length > shown.length || isCutOff(shown, correlationId),
      caused: traceOf(shown).map(nodeBody),
    };
  }

  /** Resolves once the read model includes the user's own writes. */
  private async ownWritesOf({ userId }: SignedInUser): Promise<void> {
    await this.freshness.reached(['audit-log'], this.lastWrites.of(userId));
  }

  private async *lines(filter: LocatedFilter, after: bigint, limit: number): AsyncGenerator<string> {
    let left = limit;
    for (let position: bigint | undefined = after; position !== undefined && left > 0;) {
      const { events, next } = await this.auditLog.page(filter, position, Math.min(left, PAGE_MAX));
      yield* piecesOf(events);
      left -= events.length;
      position = next;
    }
  }
}

/** The lines of a page. A client that reads slowly keeps the page in memory, but not the lines of all its events. */
function* piecesOf(events: readonly AuditEvent[]): Generator<string> {
  let piece = '';
  for (const event of events) {
    piece += `${auditLine(event)}\n`;
    if (piece.length < PIECE_LENGTH) continue;
    yield piece;
    piece = '';
  }
  if (piece !== '') yield piece;
}

/** The same rejection for a chain that does not exist and for one that the user may not see. */
const notFound = () => new Rejection('not-found', 'Not found');

const filterOf = (query: AuditEventsQuery): AuditFilter => ({
  ...(query.stream !== undefined && { stream: query.stream }),
  ...(query.type !== undefined && { type: query.type }),
  ...(query.actor !== undefined && { actor: query.actor }),
  ...(query.correlation !== undefined && { correlationId: query.correlation }),
  ...(query.from !== undefined && { from: momentIn('from', query.from) }),
  ...(query.to !== undefined && { to: momentIn('to', query.to) }),
});

/** The position to read after. A larger number than the maximum becomes the maximum, because no event follows either. */
function positionOf(after: string | undefined): bigint {
  if (after === undefined) return BEFORE_ALL;
  const position = BigInt(after);
  return position < POSITION_MAX ? position : POSITION_MAX;
}

/** `next`: the value of `after` for the next page, null if there is none. */
type AuditPage = Readonly<{ success: true; events: readonly AuditLine[]; next: string | null }>;

type NodeBody = {
  position: string;
  id: string;
  stream: string;
  revision: number;
  type: string;
  at: string;
  actor: string | null;
  /** The frames of an answer, if the event seals its journal. */
  journal?: Readonly<{ stream: string; frames: number; last_id: number; sha256: string }>;
  caused: readonly NodeBody[];
};

function nodeBody({ event, journal, caused }: TraceNode): NodeBody {
  const { position, id, stream, revision, type, at, actor } = event;
  return {
    position: String(position),
    id,
    stream,
    ...{ revision, type, at: at.toISOString(), actor },
    ...(journal && {
      journal: { stream: journal.stream, frames: journal.frames, last_id: journal.lastId, sha256: journal.sha256 },
    }),
    caused: caused.map(nodeBody),
  };
}
