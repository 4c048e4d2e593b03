import type { Sql } from 'postgres';
import type { ExpectedRevision, StoredEvent, StreamReading } from '../../../kernel/event-sourcing/event-store.js';
import { EVENT_BYTES, EVENT_COLUMNS, eventOf, type EventRow, PAGE_BYTES_MAX, PAGE_EVENTS_MAX } from './event-rows.js';

type Direction = NonNullable<StreamReading['direction']>;

/** Some events of a stream, and whether there may be more behind them. */
export type StreamPage = Readonly<{ events: readonly StoredEvent[]; more: boolean }>;

/** Past the last revision of any stream. */
export const STREAM_END = 2 ** 31 - 1;

/** The bounds of the stream hide what has left them. The lateral part is what makes the index give the order. */
const statement = (direction: Direction): string => `
  select page.position, page.revision, page.id, page.type, page.data, page.metadata, page.at, page.found from (
    select e.*, count(*) over () as found, sum(e.bytes) over (order by e.revision ${direction === 'forwards' ? 'asc' : 'desc'}) - e.bytes as before
    from event_store.stream s cross join lateral (
      select ${EVENT_COLUMNS}, ${EVENT_BYTES} as bytes
      from event_store.event e
      where e.stream = s.number and e.revision ${direction === 'forwards' ? '>=' : '<='} $2
        and e.revision > greatest(s.revision - s.max_count, s.truncate_before - 1, -1)
        and (s.max_age_seconds is null or e.at > clock_timestamp() - s.max_age_seconds * interval '1 second')
      order by e.revision ${direction === 'forwards' ? 'asc' : 'desc'}
      limit $3
    ) e
    where s.name = $1
  ) page
  where page.before < ${PAGE_BYTES_MAX}
  order by page.revision ${direction === 'forwards' ? 'asc' : 'desc'}`;

const STATEMENTS = { forwards: statement('forwards'), backwards: statement('backwards') };

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
  const found = Number(rows[0]?.[7] ?? 0);
  return { events, more: found === wanted || found > events.length };
}
