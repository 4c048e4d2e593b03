import type { Clock } from '../clock.js';
import { encodeMetadata } from './codec.js';
import { lastEvent, WrongRevision } from './event-store.js';
import type { Cause } from './events.js';
import type { Fingerprints } from './fingerprints.js';
import { deterministicId } from '../ids.js';
import { Rejection } from '../rejection.js';
import type { Streams } from './streams.js';

export const IDEMPOTENCY_KEY_CHARACTERS_MAX = 256;

/** How many characters of a fingerprint name a stream. */
const NAME_CHARACTERS = 32;

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

/** What `IdempotencyKeys.use` asks about a request. */
export type KeyRules<T> = Readonly<{
  /** Throws what the request would be refused for: a request that starts nothing uses no key. */
  refuse?: () => Promise<void>;
  /** Compares more than fingerprints, where a request may look different and still be the same, or be a retry. */
  judge?: (before: KeyUsed<T>) => Repetition | Promise<Repetition>;
}>;

/** The idempotency keys of callers. The log holds no key: a stream is named by the fingerprint of its key. */
export class IdempotencyKeys {
  constructor(
    private readonly streams: Streams,
    private readonly clock: Clock,
    private readonly fingerprints: Fingerprints,
  ) {}

  /** What distinguishes a request from another one under the same key. */
  fingerprintOf(...parts: readonly unknown[]): string {
    return this.fingerprints.of(...parts);
  }

  /**
   * Uses a key for what a request is about to start, or finds what it started before. The value has to name everything that
   * is started (ids chosen beforehand), because a crash may come right after: who finds `again` makes sure it is started.
   * @throws Rejection invalid-request, StoreUnavailable, and whatever `refuse` throws
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
      // A stream whose events are past their age reads as empty and still counts its revisions.
      const forgotten = overtaken instanceof WrongRevision && typeof overtaken.actual === 'number' ? overtaken.actual : undefined;
      const expected = last?.revision ?? forgotten ?? 'none';
      const event = {
        id: deterministicId(stream, expected, cause.correlationId),
        type: 'IdempotencyKeyUsed',
        data: JSON.stringify({ fingerprint: key.fingerprint, value } satisfies KeyUsed<T>),
        metadata: encodeMetadata(cause),
      };
      // The age is checked anyway: the bound only lets the store delete the event.
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
