import type { Clock } from '../clock.js';
import { encodeMetadata } from './codec.js';
import { lastEvent, WrongRevision } from './event-store.js';
import type { Cause } from './events.js';
import type { Fingerprints } from './fingerprints.js';
import { deterministicId } from '../ids.js';
import { Rejection } from '../rejection.js';
import type { Streams } from './streams.js';

export const IDEMPOTENCY_KEY_CHARACTERS_MAX = 256;

/** Number of characters of the fingerprint in the name of the stream. */
const NAME_CHARACTERS = 32;

/** A client's key by which the service recognises a repeated request. */
export type IdempotencyKey = Readonly<{
  /** The kind of request, a single token such as `answer`. */
  scope: string;
  /** The caller. Equal keys of different callers are different keys. */
  callerId: string;
  key: string;
  /** The fingerprint of the request. A different request with the same key has another one. */
  fingerprint: string;
  /** How long the key is bound to its first request. */
  ttlMs: number;
}>;

/** `again`: the same request was made before, and `value` is what it started. `differently`: the key was used for another request. */
export type KeyUse<T> = Readonly<{ used: 'first' | 'again' | 'differently'; value: T }>;

/** The request that a key is bound to, and what it started. */
export type KeyUsed<T> = Readonly<{ fingerprint: string; value: T }>;

/** How a request relates to the one that its key is bound to. `anew`: the key is bound to this request from now on. */
export type Repetition = 'again' | 'differently' | 'anew';

/** The rules of a kind of request. */
export type KeyRules<T> = Readonly<{
  /** Throws if the request will be refused, so that a refused request does not use its key. */
  refuse?: () => Promise<void>;
  /** Replaces the comparison of fingerprints, for requests that may differ and still be the same, or be a retry. */
  judge?: (before: KeyUsed<T>) => Repetition | Promise<Repetition>;
}>;

/** The idempotency keys of callers. The log does not contain the keys: each has a stream that is named by its fingerprint. */
export class IdempotencyKeys {
  constructor(
    private readonly streams: Streams,
    private readonly clock: Clock,
    private readonly fingerprints: Fingerprints,
  ) {}

  /** The fingerprint of a request. */
  fingerprintOf(...parts: readonly unknown[]): string {
    return this.fingerprints.of(...parts);
  }

  /**
   * Binds a key to what the request is about to start, or returns what it started before. The value must name everything that the
   * request starts, by ids chosen beforehand: after a crash between the two, a caller that gets `again` starts what is missing.
   * @throws Rejection invalid-request; StoreUnavailable; what `refuse` throws
   */
  async use<T>(
    key: IdempotencyKey,
    value: T,
    cause: Cause,
    { refuse, judge = byFingerprint(key) }: KeyRules<T> = {},
  ): Promise<KeyUse<T>> {
    if (key.key.length === 0 || key.key.length > IDEMPOTENCY_KEY_CHARACTERS_MAX) {
      throw new Rejection('invalid-request', `Idempotency-Key must have 1 to ${IDEMPOTENCY_KEY_CHARACTERS_MAX} characters.`);
    }
    const { streams, clock } = this;
    const { store } = streams;
    const stream = this.streamOf(key);
    return streams.race(stream, async (overtaken) => {
      const last = await lastEvent(store, stream);
      if (last && clock.now().getTime() - last.at.getTime() < key.ttlMs) {
        const before = JSON.parse(last.data) as KeyUsed<T>;
        const used = await judge(before);
        if (used !== 'anew') return { used, value: before.value };
      }
      await refuse?.();
      // A stream whose events have expired reads as empty but keeps its revisions.
      const forgotten = overtaken instanceof WrongRevision && typeof overtaken.actual === 'number' ? overtaken.actual : undefined;
      const expected = last?.revision ?? forgotten ?? 'none';
      const event = {
        id: deterministicId(stream, expected, cause.correlationId),
        type: 'IdempotencyKeyUsed',
        data: JSON.stringify({ fingerprint: key.fingerprint, value } satisfies KeyUsed<T>),
        metadata: encodeMetadata(cause),
      };
      // The age is checked on reading as well. The bound only lets the store delete the event.
      await streams.appendEvents(stream, expected, [event], undefined, { maxAgeSeconds: Math.ceil(key.ttlMs / 1000) });
      return { used: 'first', value };
    });
  }

  streamOf({ scope, callerId, key }: Pick<IdempotencyKey, 'scope' | 'callerId' | 'key'>): string {
    return `idempotency-${scope}-${this.fingerprints.of(callerId, key).slice(0, NAME_CHARACTERS)}`;
  }
}

const byFingerprint =
  ({ fingerprint }: IdempotencyKey) =>
  (before: KeyUsed<unknown>): Repetition =>
    before.fingerprint === fingerprint ? 'again' : 'differently';
