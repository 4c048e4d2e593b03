import type { Codec } from './codec.js';
import type { Event, Recorded } from './events.js';

/** A stream, and where what is kept of it begins. */
type Truncation = Readonly<{ stream: string; before: number }>;

/**
 * What goes once an event says that it is purged: first the blobs, then what a stream said before. Each step repeats
 * without harm: nobody else has those blobs, and a cut is never taken back.
 */
export type Purge<E extends Event = Event> = Readonly<{
  category: string;
  codec: Codec<E>;
  type: E['type'];
  /** By their SHA-256; none unless told. */
  blobsOf?: { of(event: Recorded<E>): readonly string[] }['of'];
  /** The stream of the event itself, up to the event, unless told. */
  truncated?: { by(event: Recorded<E>): Truncation }['by'];
}>;

/** What an event of one type has go. */
export const purgeOf = <E extends Event>(purge: Purge<E>): Purge => purge;
