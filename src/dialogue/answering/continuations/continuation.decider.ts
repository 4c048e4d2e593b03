import type { Decision } from '../../../kernel/event-sourcing/decider.js';
import type { Aggregate } from '../../../kernel/event-sourcing/streams.js';
import { continuationCodec } from './continuation.codec.js';
import type { ContinuationEvent } from './continuation.events.js';

/** The hashes of a turn's deleted continuations. */
export type DroppedContinuations = Readonly<{ dropped: ReadonlySet<string> }>;

export const continuations: Aggregate<DroppedContinuations, ContinuationEvent> = {
  initial: { dropped: new Set() },
  evolve: ({ dropped }, { data }) => ({ dropped: new Set([...dropped, data.sha256]) }),
  codec: continuationCodec,
};

export const dropContinuation =
  (turnId: string, sha256: string): Decision<DroppedContinuations, ContinuationEvent> =>
  ({ dropped }) =>
    dropped.has(sha256) ? [] : [{ type: 'ContinuationDropped', data: { turnId, sha256 } }];
