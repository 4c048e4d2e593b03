import type { Sql } from 'postgres';
import type { NewEvent } from '../../../kernel/event-sourcing/event-store.js';
import { SEPARATOR } from './storable.js';

/**
 * An append in a shared statement. `after` is its expected revision, -1 for no stream. With `maxAgeSeconds` it also sets that
 * bound of its stream.
 */
export type Append = Readonly<{
  stream: string;
  after: number;
  events: readonly NewEvent[];
  maxAgeSeconds?: number | undefined;
}>;

/**
 * The outcome of an append. Without a position it was not written, and `revision` is the stream's current one. With a position it
 * was written now or earlier.
 */
export type AppendResult = Readonly<{
  append: number;
  revision: number;
  position: bigint | undefined;
  at: Date;
  writtenNow: boolean;
}>;

const text = (n: number): string => `string_to_array($${n}, e'\\x1f')`;
const integers = (n: number): string => `$${n}::text::integer[]`;

const ARGUMENTS = `
  ${text(1)}, ${integers(2)}, ${integers(3)},
  ${integers(4)}, ${integers(5)}, $6::text::uuid[], ${text(7)}, ${text(8)}, ${text(9)}`;
const RESULT = 'append, revision, log_position, at, written_now';
const APPEND = `select ${RESULT} from event_store.append(${ARGUMENTS})`;
const APPEND_BOUNDED = `select ${RESULT} from event_store.append_bounded(${ARGUMENTS}, ${integers(10)})`;

const joined = (texts: readonly string[]): string => texts.join(SEPARATOR);
const listed = (plain: readonly (number | string)[]): string => `{${plain.join(',')}}`;

type Row = [append: number, revision: number, position: string | null, at: Date, writtenNow: boolean];

/** Writes all appends in one round trip and one transaction. The results are sorted by position, newly written ones first. */
export async function appendAll(sql: Sql, appends: readonly Append[]): Promise<AppendResult[]> {
  const events = appends.flatMap((append) => append.events);
  const isBounded = appends.some(({ maxAgeSeconds }) => maxAgeSeconds !== undefined);
  const rows = await sql
    .unsafe<Row[]>(
      isBounded ? APPEND_BOUNDED : APPEND,
      [
        joined(appends.map(({ stream }) => stream)),
        listed(appends.map(({ after }) => after)),
        listed(appends.map((append) => append.events.length)),
        listed(appends.flatMap((append, index) => append.events.map(() => index + 1))),
        listed(appends.flatMap(({ after, events: own }) => own.map((_, place) => after + 1 + place))),
        listed(events.map(({ id }) => id)),
        joined(events.map(({ type }) => type)),
        joined(events.map(({ data }) => data)),
        joined(events.map(({ metadata }) => metadata)),
        ...(isBounded ? [listed(appends.map(({ maxAgeSeconds }) => maxAgeSeconds ?? 'null'))] : []),
      ],
      { prepare: true },
    )
    .values();
  return (rows as unknown as Row[]).map(([append, revision, position, at, writtenNow]) => ({
    append: append - 1,
    revision,
    position: position === null ? undefined : BigInt(position),
    at,
    writtenNow,
  }));
}
