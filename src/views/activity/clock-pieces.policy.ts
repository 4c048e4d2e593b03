import { Temporal } from 'temporal-polyfill';

/** A period in which a time zone has the same offset from UTC. `beforeMs`: the offset before the period. */
export type ClockPiece = Readonly<{ from: number; until: number; offsetMs: number; beforeMs: number }>;

/** The maximum number of pieces of a window. Clocks change a few times a year. */
const PIECES_MAX = 100;

const NANOSECONDS_PER_MS = 1_000_000;

/** The pieces that cover a period in a time zone, in order. The first begins with the last clock change before the period. */
export function clockPieces(timezone: string, from: number, until: number): readonly ClockPiece[] {
  const start = Temporal.Instant.fromEpochMilliseconds(from).toZonedDateTimeISO(fullName(timezone));
  // A change at the very beginning counts as a change before the period.
  const first = start.add({ milliseconds: 1 }).getTimeZoneTransition('previous');
  const pieces: ClockPiece[] = [];
  let change: Temporal.ZonedDateTime | null | undefined = first;
  let beginning = first ?? start;
  while (pieces.length < PIECES_MAX) {
    change = beginning.getTimeZoneTransition('next');
    const end = change ? change.epochMilliseconds : Infinity;
    const offsetMs = offsetOf(beginning);
    const beforeMs = first || pieces.length > 0 ? offsetOf(beginning.subtract({ milliseconds: 1 })) : offsetMs;
    pieces.push({
      from: pieces.length === 0 && !first ? -Infinity : beginning.epochMilliseconds,
      until: end,
      offsetMs,
      beforeMs,
    });
    if (!change || end >= until) break;
    beginning = change;
  }
  return pieces;
}

/** Earlier versions stored schedules with short names such as PST, which only `Intl` knows. */
const fullName = (timezone: string): string => new Intl.DateTimeFormat('en', { timeZone: timezone }).resolvedOptions().timeZone;

const offsetOf = (time: Temporal.ZonedDateTime): number => time.offsetNanoseconds / NANOSECONDS_PER_MS;
