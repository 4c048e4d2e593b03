import type { Decision } from '../../kernel/event-sourcing/decider.js';
import type { Aggregate } from '../../kernel/event-sourcing/streams.js';
import { journalsCodec } from './journals.codec.js';
import type { Hour, JournalsEvent } from './journals.events.js';

/** The expired journals of an hour. */
export type Journals = Readonly<{ expired: ReadonlySet<string> }>;

export const journals: Aggregate<Journals, JournalsEvent> = {
  initial: { expired: new Set() },
  evolve: ({ expired }, { data }) => ({ expired: new Set([...expired, ...data.turnIds]) }),
  codec: journalsCodec,
};

/** Records journals as expired, each once. */
export const expireJournals =
  (sealedIn: Hour, turnIds: readonly string[], now: Date): Decision<Journals, JournalsEvent> =>
  ({ expired }) => {
    const left = [...new Set(turnIds)].filter((turnId) => !expired.has(turnId));
    if (left.length === 0) return [];
    return [{ type: 'JournalsExpired', data: { sealedIn, turnIds: left, expiredAt: now.toISOString() } }];
  };
