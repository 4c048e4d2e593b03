import type { Sql } from 'postgres';
import {
  type ExpectedRevision,
  type StoredEvent,
  type StoredTexts,
  type StreamReading,
  textsOf,
} from '../../../kernel/event-sourcing/event-store.js';
import { EVENT_BYTES, EVENT_COLUMNS, eventOf, type EventRow, PAGE_BYTES_MAX, PAGE_EVENTS_MAX } from './event-rows.js';
import { SEPARATOR } from './storable.js';

type Direction = NonNullable<StreamReading['direction']>;

/** A page of a stream, and whether more events may follow. */
export type StreamPage = Readonly<{ events: readonly StoredEvent[]; more: boolean }>;

/** A request for a page: the stream, the first revision (inclusive), and the maximum number of events. */
export type PageRequest = Readonly<{ stream: string; from: number; limit?: number }>;

/** The highest revision of any stream. */
export const STREAM_END = 2 ** 31 - 1;

const ORDERS = { forwards: 'asc', backwards: 'desc' } as const;

const hidden = (type: string, n: number): string => `(select $${n}::text::${type}[])`;

/** The requests as rows, as `argumentsOf` sends them. The planner must not see the arrays, or it would plan anew for each length. */
const REQUESTS = `unnest(${hidden('text', 1)}, ${hidden('integer', 2)}, ${hidden('integer', 3)}) with ordinality as request (stream, start, wanted, place)`;

/** A stream name as an element of a Postgres array literal. A name that cannot be stored becomes another such name. */
const quoted = (stream: string): string => `"${stream.replace(/["\\]/g, '\\$&').replace(/[\0\p{Cs}]/gu, SEPARATOR)}"`;

const argumentsOf = (requests: readonly PageRequest[]): string[] =>
  [
    requests.map(({ stream }) => quoted(stream)),
    requests.map(({ from }) => from),
    requests.map(({ limit }) => Math.min(limit ?? PAGE_EVENTS_MAX, PAGE_EVENTS_MAX)),
  ].map((values) => `{${values.join(',')}}`);

/**
 * The visible events of each request, within the bounds of its stream. The lateral join makes the index provide the order. `edge` is
 * the revision up to which no event is kept, `before` the bytes of the page before an event.
 */
const eventsOf = (columns: string, direction: Direction): string => `
  select e.*, ${direction === 'forwards' ? 's.revision' : 'greatest(s.revision - s.max_count, s.truncate_before - 1, -1) + 1'} as edge,
    sum(e.bytes) over (order by e.revision ${ORDERS[direction]} rows unbounded preceding) - e.bytes as before
  from event_store.stream s cross join lateral (
    select ${columns}
    from event_store.event e
    where e.stream = s.number and e.revision ${direction === 'forwards' ? '>=' : '<='} request.start
      and e.revision > greatest(s.revision - s.max_count, s.truncate_before - 1, -1)
      and (s.max_age_seconds is null or e.at > clock_timestamp() - s.max_age_seconds * interval '1 second')
    order by e.revision ${ORDERS[direction]}
    limit request.wanted
  ) e
  where s.name = request.stream`;

const statement = (direction: Direction): string => `
  select request.place, page.edge, page.position, page.revision, page.id, page.type, page.data, page.metadata, page.at
  from ${REQUESTS} cross join lateral (${eventsOf(`${EVENT_COLUMNS}, ${EVENT_BYTES} as bytes`, direction)}) page
  where page.before < ${PAGE_BYTES_MAX}
  order by request.place, page.revision ${ORDERS[direction]}`;

const STATEMENTS = { forwards: statement('forwards'), backwards: statement('backwards') };

type PlacedRow = [place: string, edge: number, ...event: EventRow];

/** Reads a page for each request in one statement. */
export async function streamPages(sql: Sql, requests: readonly PageRequest[], direction: Direction): Promise<StreamPage[]> {
  const rows = await sql.unsafe(STATEMENTS[direction], argumentsOf(requests), { prepare: true }).values();
  const pages = requests.map(() => ({ events: [] as StoredEvent[], more: false }));
  for (const [place, edge, ...row] of rows as unknown as PlacedRow[]) {
    const at = Number(place) - 1;
    const event = eventOf(requests[at]!.stream, row);
    pages[at]!.events.push(event);
    pages[at]!.more = direction === 'forwards' ? event.revision < edge : event.revision > edge;
  }
  return pages;
}

/** Reads a page from a revision on, inclusive. */
async function streamPage(sql: Sql, stream: string, from: number): Promise<StreamPage> {
  const [page] = await streamPages(sql, [{ stream, from }], 'forwards');
  return page!;
}

const TEXTS = `
  select page.*
  from ${REQUESTS} cross join lateral (
    select min(texts.revision), max(texts.revision), max(texts.edge), count(*)::integer, max(texts.metadata),
      string_agg(texts.data, e'${'\\x1f'}' order by texts.revision)
    from (${eventsOf('e.revision, e.data, case when e.revision = request.start then e.metadata end as metadata, octet_length(e.data) as bytes', 'forwards')}) texts
    where texts.before < ${PAGE_BYTES_MAX}
  ) page
  order by request.place`;

type TextsRow = [first: number | null, last: number, edge: number, count: number, metadata: string | null, data: string];

/** Texts of events, the revision after them, and whether more may follow. */
export type TextsPage = Readonly<{ pages: readonly StoredTexts[]; next: number; more: boolean }>;

/** Reads the texts for each request as one value, so that neither side handles them row by row. Undefined if there are none. */
export async function textsPages(sql: Sql, requests: readonly PageRequest[]): Promise<(TextsPage | undefined)[]> {
  const rows = await sql.unsafe(TEXTS, argumentsOf(requests), { prepare: true }).values();
  return Promise.all((rows as unknown as TextsRow[]).map((row, place) => textsPage(sql, requests[place]!, row)));
}

async function textsPage(sql: Sql, { stream, from }: PageRequest, row: TextsRow): Promise<TextsPage | undefined> {
  const [first, last, edge, count, metadata, data] = row;
  if (first === null) return undefined;
  if (count === last - first + 1) {
    const page = { first, texts: data.split(SEPARATOR), ...(metadata !== null && { metadata }) };
    return { pages: [page], next: last + 1, more: last < edge };
  }
  const { events, more } = await streamPage(sql, stream, from);
  return events.length === 0 ? undefined : { pages: [...textsOf(events, from)], next: events.at(-1)!.revision + 1, more };
}

/** The last revision of a stream, regardless of its bounds. */
export async function streamEnd(sql: Sql, stream: string): Promise<ExpectedRevision> {
  const [row] = await sql<{ revision: number }[]>`select revision from event_store.stream where name = ${stream}`;
  return row && row.revision >= 0 ? row.revision : 'none';
}

/** The last revisions of those streams that have grown past the known ones. */
export async function streamsGrownPast(sql: Sql, known: ReadonlyMap<string, number>): Promise<ReadonlyMap<string, number>> {
  const rows = await sql<{ name: string; revision: number }[]>`
    select s.name, s.revision
    from unnest(${[...known.keys()]}::text[], ${[...known.values()]}::integer[]) as known (name, revision)
    join event_store.stream s on s.name = known.name
    where s.revision > known.revision`;
  return new Map(rows.map(({ name, revision }) => [name, revision]));
}
