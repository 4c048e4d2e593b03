import type { Codec } from './codec.js';
import type { Event, Recorded } from './events.js';

/** A stream, and where what is kept of it begins. */
type Truncation = Readonly<{ stream: string; before: number }>;

/**
 * What is deleted after a purge event: first the blobs, then the earlier events of streams. Each step can be repeated: the blobs
 * have no other user, and a truncation is never taken back.
 */
export type Purge<E extends Event = Event> = Readonly<{
  category: string;
  codec: Codec<E>;
  type: E['type'];
  /** The SHA-256 of each; none by default. */
  blobsOf?: { of(event: Recorded<E>): readonly string[] }['of'];
  /** Which streams are truncated, and before what; by default the event's own stream, before the event. */
  truncated?: { by(event: Recorded<E>): readonly Truncation[] }['by'];
}>;

/** What an event of one type has go. */
export const purgeOf = <E extends Event>(purge: Purge<E>): Purge => purge;
