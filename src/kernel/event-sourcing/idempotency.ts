import { createHash } from 'node:crypto';
import type { Clock } from '../clock.js';
import { encodeMetadata } from './codec.js';
import { lastEvent, WrongRevision } from './event-store.js';
import type { Cause } from './events.js';
import { deterministicId } from '../ids.js';
import { Rejection } from '../rejection.js';
import type { Streams } from './streams.js';

export const IDEMPOTENCY_KEY_CHARACTERS_MAX = 256;

/** A caller's word that two requests are one. */
export type IdempotencyKey = Readonly<{
  /** What kind of request it belongs to: a single token, as in `answer`. */
  scope: string;
  /** Whose key it is; the same key of another caller is another key. */
  callerId: string;
  key: string;
  /** Distinguishes a repetition from another request under the same key. */
  fingerprint: string;
  /** How long the key stands for its first request. */
  ttlMs: number;
}>;

/** `again`: this request was made before, and `value` is what it started then. `differently`: another one was made with this key. */
export type KeyUse<T> = Readonly<{ used: 'first' | 'again' | 'differently'; value: T }>;

/** The request a key stands for so far, and what it started. */
export type KeyUsed<T> = Readonly<{ fingerprint: string; value: T }>;

/** What a request means whose key was used before; `anew`: the key stands for this request from now on. */
export type Repetition = 'again' | 'differently' | 'anew';

/**
 * Uses a key for what a request is about to start, or finds what it started before. The value has to name everything that
 * is started (ids chosen beforehand), because a crash may come right after: who finds `again` makes sure it is started.
 * `refuse` throws what the request would be refused for: a request that starts nothing uses no key. `judge` compares more than
 * fingerprints where a request may look different and still be the same, or be a retry.
 * @throws Rejection invalid-request, StoreUnavailable, and whatever `refuse` throws
 */
export async function useIdempotencyKey<T>(
  streams: Streams,
  clock: Clock,
  key: IdempotencyKey,
  value: T,
  cause: Cause,
  refuse?: () => Promise<void>,
  judge: (before: KeyUsed<T>) => Repetition | Promise<Repetition> = byFingerprint(key),
): Promise<KeyUse<T>> {
  if (key.key.length === 0 || key.key.length > IDEMPOTENCY_KEY_CHARACTERS_MAX) {
    throw new Rejection('invalid-request', `Idempotency-Key must have 1 to ${IDEMPOTENCY_KEY_CHARACTERS_MAX} characters.`);
  }
  const { store } = streams;
  const stream = `idempotency-${key.scope}-${hashOf(key.callerId, key.key)}`;
  return streams.race(stream, async (overtaken) => {
    const last = await lastEvent(store, stream);
    if (last && clock.now().getTime() - last.at.getTime() < key.ttlMs) {
      const before = JSON.parse(last.data) as KeyUsed<T>;
      const used = await judge(before);
      if (used !== 'anew') return { used, value: before.value };
    }
    await refuse?.();
    // A stream whose events are past their age reads as empty and still counts its revisions.
    const forgotten = overtaken instanceof WrongRevision && typeof overtaken.actual === 'number' ? overtaken.actual : undefined;
    const expected = last?.revision ?? forgotten ?? 'none';
    const event = {
      id: deterministicId(stream, expected, cause.correlationId),
      type: 'IdempotencyKeyUsed',
      data: JSON.stringify({ fingerprint: key.fingerprint, value } satisfies KeyUsed<T>),
      metadata: encodeMetadata(cause),
    };
    await streams.appendEvents(stream, expected, [event]);
    // Not awaited: the age is checked anyway, the bound only lets the store delete the event.
    store.setRetention(stream, { maxAgeSeconds: Math.ceil(key.ttlMs / 1000) }).catch(() => undefined);
    return { used: 'first', value };
  });
}

const byFingerprint =
  ({ fingerprint }: IdempotencyKey) =>
  (before: KeyUsed<unknown>): Repetition =>
    before.fingerprint === fingerprint ? 'again' : 'differently';

/** A short text that is equal for equal requests, in whatever order they name their fields. */
export const fingerprintOf = (...parts: readonly unknown[]): string =>
  createHash('sha256').update(JSON.stringify(parts, inOrder)).digest('hex');

const inOrder = (_: string, value: unknown): unknown =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
    : value;

const hashOf = (...parts: readonly string[]): string => fingerprintOf(...parts).slice(0, 32);
