import { Queries } from '../read-models.js';
import type { AuditEvent } from './audit-event.js';

/** The conditions that an event must meet, all of them. */
export type AuditFilter = Readonly<{
  /** The actors whose events the caller may see. Undefined: all. */
  visibleActors?: readonly string[];
  stream?: string;
  type?: string;
  actor?: string;
  correlationId?: string;
  /** Only events that were recorded at `from` or later, and before `to`. */
  from?: Date;
  to?: Date;
}>;

/** A filter with the positions of the first and the last event between its times. */
export type LocatedFilter = AuditFilter & Readonly<{ first?: string; last?: string }>;

type Row = Omit<AuditEvent, 'position'> & Readonly<{ position: string }>;

/** `next` is the position after which the next page begins; undefined after the last page. */
type AuditPage = Readonly<{ events: readonly AuditEvent[]; next: bigint | undefined }>;

/** The position before that of the first event. */
export const BEFORE_ALL = -1n;

/** Positions are signed 64-bit integers. */
export const POSITION_MAX = 2n ** 63n - 1n;

/** The size of the data of a page, which ends early at it. An event has at most 1 MiB. Each slow reader of an export holds a page. */
const PAGE_BYTES_MAX = 1024 * 1024;

export class AuditLogQueries extends Queries {
  /**
   * The filter with the positions between which its times lie, so that pages do not read all events before and after them. Times
   * need not grow along the log, because processes have clocks of their own. The bounds are exact nevertheless: they are the
   * extremes of the day of the time itself and of every later or earlier day, each of which an index finds in one step.
   */
  async located(filter: AuditFilter): Promise<LocatedFilter> {
    const { from, to } = filter;
    const [first, last] = await Promise.all([from && this.positionAt(from, 'first'), to && this.positionAt(to, 'last')]);
    return { ...filter, ...(first !== undefined && { first }), ...(last !== undefined && { last }) };
  }

  /** Events after a position, in the order of the log. A page has at least one of them if there are any. */
  async page(filter: LocatedFilter, after: bigint, limit: number): Promise<AuditPage> {
    const { sql } = this;
    const rows = await sql<(Row & { isLast: boolean })[]>`
      select ${this.head}, data, place = found as "isLast"
      from (
        select *, row_number() over earlier as place, count(*) over () as found,
          sum(octet_length(data)) over earlier - octet_length(data) as bytes_before
        from (${this.found(filter, after, limit + 1)}) as event
        window earlier as (order by event.position)
      ) as event
      where place <= ${limit} and bytes_before < ${PAGE_BYTES_MAX}
      order by event.position`;
    const end = rows.at(-1);
    return {
      events: rows.map(({ isLast: _, ...row }) => auditEvent(row)),
      next: end && !end.isLast ? BigInt(end.position) : undefined,
    };
  }

  /**
   * The first events after a position that match. They are looked up for each visible actor, because the planner expects many
   * events of each and would read those of all users in order. A stream or a chain has few events of others.
   */
  private found(filter: LocatedFilter, after: bigint, limit: number) {
    const { sql } = this;
    const { visibleActors, stream, type, actor, correlationId, from, to, first, last } = filter;
    const matches = sql`event.position > ${String(after)}
      ${actor === undefined ? sql`` : sql`and event.actor = ${actor}`}
      ${stream === undefined ? sql`` : sql`and stream = ${stream}`}
      ${type === undefined ? sql`` : sql`and type = ${type}`}
      ${correlationId === undefined ? sql`` : sql`and correlation_id = ${correlationId}`}
      ${from === undefined ? sql`` : sql`and at >= ${from}`}
      ${to === undefined ? sql`` : sql`and at < ${to}`}
      ${first === undefined ? sql`` : sql`and event.position >= ${first}`}
      ${last === undefined ? sql`` : sql`and event.position <= ${last}`}`;
    const inOrder = sql`order by event.position limit ${limit}`;
    if (visibleActors === undefined) return sql`select * from audit_log.event where ${matches} ${inOrder}`;
    if (stream !== undefined || correlationId !== undefined)
      return sql`select * from audit_log.event where ${matches} and actor = any(${visibleActors}) ${inOrder}`;
    return sql`
      select event.* from (
        select event.position from unnest(${visibleActors as string[]}::text[]) as visible (actor)
          cross join lateral (
            select event.position from audit_log.event where event.actor = visible.actor and ${matches} ${inOrder}
          ) as event
        ${inOrder}
      ) as first join audit_log.event using (position)`;
  }

  /** The first events of a causal chain, in the order of the log. Only events of some types come with their data. */
  async chain(correlationId: string, limit: number, typesWithData: readonly string[]): Promise<readonly AuditEvent[]> {
    const rows = await this.sql<Row[]>`
      select ${this.head}, case when type = any(${typesWithData}) then data else '' end as data
      from audit_log.event where correlation_id = ${correlationId} order by event.position limit ${limit}`;
    return rows.map(auditEvent);
  }

  /**
   * The actors that a user is responsible for: the user, the bearers of the user's tokens, the user's devices, the readers of the
   * user's links, the holders of keys of the user's agents, and the senders to the webhooks of these agents.
   */
  async actorsOf(user: string): Promise<readonly string[]> {
    const { sql } = this;
    const keys = await sql<{ actor: string }[]>`
      select agent_key.actor from audit_log.agent join audit_log.agent_key on agent_key.agent = agent.stream
      where agent.owner = ${user}
      union all select regexp_replace(stream, '^agent-', 'webhook:') from audit_log.agent where owner = ${user}
      union all select actor from audit_log.access_token where owner = ${user}
      union all select actor from audit_log.device where owner = ${user}
      union all select actor from audit_log.link where owner = ${user}`;
    return [user, ...keys.map(({ actor }) => actor)];
  }

  /** The correlation id of the event with this id, or the id itself if it is a correlation id. Undefined if no event has it. */
  async correlationOf(id: string): Promise<string | undefined> {
    const [row] = await this.sql<{ correlation_id: string | null }[]>`
      (select correlation_id from audit_log.event where event_id = ${id} limit 1)
      union all
      (select correlation_id from audit_log.event where correlation_id = ${id} limit 1)
      limit 1`;
    return row?.correlation_id ?? undefined;
  }

  /**
   * The position of the first event at a time or later, or of the last event before it. If there is none, the position is one
   * that no event has.
   */
  private async positionAt(time: Date, which: 'first' | 'last'): Promise<string> {
    const { sql } = this;
    const day = sql`((at at time zone 'UTC')::date)`;
    const own = sql`((${time}::timestamptz at time zone 'UTC')::date)`;
    const [best, order, isBeyond, isWithin, none] =
      which === 'first' ? [sql`min`, sql`asc`, sql`>`, sql`>=`, POSITION_MAX] : [sql`max`, sql`desc`, sql`<`, sql`<`, BEFORE_ALL];
    const [row] = await sql<{ position: string }[]>`
      with recursive beyond as (
        (select ${day} as day, position from audit_log.event where ${day} ${isBeyond} ${own}
         order by ${day} ${order}, position ${order} limit 1)
        union all
        select next.day, next.position from beyond, lateral (
          select ${day} as day, position from audit_log.event where ${day} ${isBeyond} beyond.day
          order by ${day} ${order}, position ${order} limit 1
        ) as next
      ), within as (
        select position from audit_log.event where ${day} = ${own} and at ${isWithin} ${time}
        order by position ${order} limit 1
      )
      select coalesce(${best}(position), ${String(none)}::bigint)::text as position
      from (select position from beyond union all select position from within) as found`;
    return row!.position;
  }

  /** All columns of an event but its data. */
  private get head() {
    return this.sql`position::text, event_id as id, stream, revision::float8 as revision, type, at, actor, credential,
      correlation_id as "correlationId", causation_id as "causationId"`;
  }
}

const auditEvent = (row: Row): AuditEvent => ({ ...row, position: BigInt(row.position) });
