import type { Sql } from 'postgres';
import {
  type ExpectedRevision,
  type StoredEvent,
  type StoredTexts,
  type StreamReading,
  textsOf,
} from '../../../kernel/event-sourcing/event-store.js';
import { EVENT_BYTES, EVENT_COLUMNS, eventOf, type EventRow, PAGE_BYTES_MAX, PAGE_EVENTS_MAX } from './event-rows.js';

type Direction = NonNullable<StreamReading['direction']>;

/** Some events of a stream, and whether there may be more behind them. */
export type StreamPage = Readonly<{ events: readonly StoredEvent[]; more: boolean }>;

/** Past the last revision of any stream. */
export const STREAM_END = 2 ** 31 - 1;

const ORDERS = { forwards: 'asc', backwards: 'desc' } as const;

/**
 * The bounds of the stream hide what has left them. The lateral part is what makes the index give the order. `edge` is the revision
 * behind which nothing is kept, `before` the bytes before an event.
 */
const eventsOf = (columns: string, direction: Direction): string => `
  select e.*, ${direction === 'forwards' ? 's.revision' : 'greatest(s.revision - s.max_count, s.truncate_before - 1, -1) + 1'} as edge,
    sum(e.bytes) over (order by e.revision ${ORDERS[direction]} rows unbounded preceding) - e.bytes as before
  from event_store.stream s cross join lateral (
    select ${columns}
    from event_store.event e
    where e.stream = s.number and e.revision ${direction === 'forwards' ? '>=' : '<='} $2
      and e.revision > greatest(s.revision - s.max_count, s.truncate_before - 1, -1)
      and (s.max_age_seconds is null or e.at > clock_timestamp() - s.max_age_seconds * interval '1 second')
    order by e.revision ${ORDERS[direction]}
    limit $3
  ) e
  where s.name = $1`;

const statement = (direction: Direction): string => `
  select page.position, page.revision, page.id, page.type, page.data, page.metadata, page.at, page.edge
  from (${eventsOf(`${EVENT_COLUMNS}, ${EVENT_BYTES} as bytes`, direction)}) page
  where page.before < ${PAGE_BYTES_MAX}
  order by page.revision ${ORDERS[direction]}`;

const STATEMENTS = { forwards: statement('forwards'), backwards: statement('backwards') };

/** Stands in no JSON text, so it can stand between them. */
const SEPARATOR = '\x1f';

const TEXTS = `
  select min(page.revision), max(page.revision), max(page.edge), count(*)::integer, max(page.metadata),
    string_agg(page.data, e'${'\\x1f'}' order by page.revision)
  from (${eventsOf('e.revision, e.data, case when e.revision = $2 then e.metadata end as metadata, octet_length(e.data) as bytes', 'forwards')}) page
  where page.before < ${PAGE_BYTES_MAX}`;

type TextsRow = [first: number | null, last: number, edge: number, count: number, metadata: string | null, data: string];

/** Up to so many texts from a revision on, as one value: neither side works on each. Undefined where there is none. */
export async function textsPage(sql: Sql, stream: string, from: number): Promise<TextsPage | undefined> {
  const [row] = await sql.unsafe(TEXTS, [stream, from, PAGE_EVENTS_MAX], { prepare: true }).values();
  const [first, last, edge, count, metadata, data] = row as unknown as TextsRow;
  if (first === null) return undefined;
  if (count === last - first + 1) {
    const page = { first, texts: data.split(SEPARATOR), ...(metadata !== null && { metadata }) };
    return { pages: [page], next: last + 1, more: last < edge };
  }
  const { events, more } = await streamPage(sql, stream, from);
  return events.length === 0 ? undefined : { pages: [...textsOf(events, from)], next: events.at(-1)!.revision + 1, more };
}

/** Texts, the revision after them, and whether there may be more from there on. */
export type TextsPage = Readonly<{ pages: readonly StoredTexts[]; next: number; more: boolean }>;

/** Where the stream ends, whatever of it is kept. */
export async function streamEnd(sql: Sql, stream: string): Promise<ExpectedRevision> {
  const [row] = await sql<{ revision: number }[]>`select revision from event_store.stream where name = ${stream}`;
  return row && row.revision >= 0 ? row.revision : 'none';
}

/** Where those of the streams end that have grown past a revision. */
export async function streamsGrownPast(sql: Sql, known: ReadonlyMap<string, number>): Promise<ReadonlyMap<string, number>> {
  const rows = await sql<{ name: string; revision: number }[]>`
    select s.name, s.revision
    from unnest(${[...known.keys()]}::text[], ${[...known.values()]}::integer[]) as known (name, revision)
    join event_store.stream s on s.name = known.name
    where s.revision > known.revision`;
  return new Map(rows.map(({ name, revision }) => [name, revision]));
}

/** Up to so many events from a revision on, inclusive. */
export async function streamPage(
  sql: Sql,
  stream: string,
  from: number,
  direction: Direction = 'forwards',
  limit = PAGE_EVENTS_MAX,
): Promise<StreamPage> {
  const wanted = Math.min(limit, PAGE_EVENTS_MAX);
  const rows = await sql.unsafe(STATEMENTS[direction], [stream, from, wanted], { prepare: true }).values();
  const events = (rows as unknown as EventRow[]).map((row) => eventOf(stream, row));
  const [last, edge] = [events.at(-1)?.revision, rows[0]?.[7] as number];
  return { events, more: last !== undefined && (direction === 'forwards' ? last < edge : last > edge) };
}
