import type { Codec } from './codec.js';
import type { Event, Recorded } from './events.js';

/** A stream, and the first revision that is kept. */
type Truncation = Readonly<{ stream: string; before: number }>;

/**
 * What is deleted after a purge event: first blobs, then earlier events of streams. Each step can be repeated, because the blobs
 * have no other user and a truncation is never undone.
 */
export type Purge<E extends Event = Event> = Readonly<{
  category: string;
  codec: Codec<E>;
  type: E['type'];
  /** The SHA-256 of each blob to delete; none by default. */
  blobsOf?: { of(event: Recorded<E>): readonly string[] }['of'];
  /** The streams to truncate; by default the event's own stream, before the event. */
  truncated?: { by(event: Recorded<E>): readonly Truncation[] }['by'];
}>;

/** Declares the purge for an event type. */
export const purgeOf = <E extends Event>(purge: Purge<E>): Purge => purge;
