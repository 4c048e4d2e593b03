import type { Sql } from 'postgres';
import type { LogFilter, LogPage } from '../../../kernel/event-sourcing/event-store.js';
import { FRAMES, isWanted } from '../wanted.js';
import { EVENT_BYTES, EVENT_COLUMNS, eventOf, type EventRow, PAGE_BYTES_MAX, PAGE_EVENTS_MAX } from './event-rows.js';

/** Number of positions that a statement scans, so that a filter with few matches does not read the whole log at once. */
const WINDOW_POSITIONS = 50_000;

/**
 * Reads head, window and page from one snapshot. Positions become visible in order, so no event can appear later below a head
 * that was read.
 */
const statement = (condition: string): string => `
  with head as materialized (select coalesce((select max(position) from event_store.event), -1) as position),
  found as materialized (
    select ${EVENT_COLUMNS}, e.stream, ${EVENT_BYTES} as bytes
    from event_store.event e
    where e.position > $1 and e.position <= least($1::bigint + ${WINDOW_POSITIONS}, (select position from head)) ${condition}
    order by e.position
    limit $2
  ), page as (
    select found.*, count(*) over () as found, sum(bytes) over (order by position) - bytes as before from found
  )
  select page.position, page.revision, page.id, page.type, page.data, page.metadata, page.at,
    (select s.name from event_store.stream s where s.number = page.stream), page.found, head.position
  from head left join page on page.before < ${PAGE_BYTES_MAX}
  order by page.position`;

type Row = [...EventRow, stream: string, found: string, head: string];

/** A page, and the head of the log in the same snapshot. */
export type PageAndHead = Readonly<{ page: LogPage; head: bigint }>;

/** Reads up to `limit` events after a position. */
export async function logPage(sql: Sql, after: bigint, filter: LogFilter, limit = PAGE_EVENTS_MAX): Promise<PageAndHead> {
  const wanted = Math.min(limit, PAGE_EVENTS_MAX);
  const { condition, parameters } = conditionOf(filter);
  const rows = (await sql
    .unsafe(statement(condition), [after.toString(), wanted, ...parameters], { prepare: true })
    .values()) as unknown as Row[];
  const head = BigInt(rows[0]![9]);
  const events = rows
    .filter(([position]) => position !== null)
    .map(([position, revision, id, type, data, metadata, at, stream]) =>
      eventOf(stream, [position, revision, id, type, data, metadata, at]),
    );
  const found = Number(rows[0]![8] ?? 0);
  const cutShort = found === wanted || found > events.length;
  const position = cutShort ? events.at(-1)!.position : larger(after, smaller(after + BigInt(WINDOW_POSITIONS), head));
  return { page: { events, position, caughtUp: position >= head }, head };
}

export async function logHead(sql: Sql): Promise<bigint> {
  const [row] = await sql.unsafe('select coalesce(max(position), -1) from event_store.event', [], { prepare: true }).values();
  return BigInt((row as [string])[0]);
}

/** The position of the newest event that was ever appended, also if it was deleted since. */
export async function logEnd(sql: Sql): Promise<bigint> {
  const [row] = await sql
    .unsafe('select case when is_called then last_value else -1 end from event_store.position', [], { prepare: true })
    .values();
  return BigInt((row as [string])[0]);
}

function conditionOf(filter: LogFilter): { condition: string; parameters: string[][] } {
  const { categories, exceptCategories, types } = filter;
  const parameters: string[][] = [];
  let condition = '';
  if (categories) condition += ` and e.category = any($${2 + parameters.push([...categories])}::text[])`;
  if (exceptCategories) condition += ` and e.category <> all($${2 + parameters.push([...exceptCategories])}::text[])`;
  if (types) condition += ` and e.type = any($${2 + parameters.push([...types])}::text[])`;
  // This condition matches the partial index without frames.
  if (!isWanted(filter, FRAMES)) {
    condition += ` and e.category <> '${FRAMES}'`;
  }
  return { condition, parameters };
}

const smaller = (a: bigint, b: bigint): bigint => (a < b ? a : b);
const larger = (a: bigint, b: bigint): bigint => (a > b ? a : b);
