import type { Decision } from '../../kernel/event-sourcing/decider.js';
import type { Aggregate } from '../../kernel/event-sourcing/streams.js';
import { logSealsCodec } from './log-seals.codec.js';
import type { LogSealed } from './log-seals.events.js';

/** The number of seals, and the position up to which they seal the log. */
export type LogSeals = Readonly<{ count: number; upTo: string }>;

/** Audited events that follow each other in the log. */
export type Sealable = Omit<LogSealed['data'], 'number'>;

export const logSeals: Aggregate<LogSeals, LogSealed> = {
  initial: { count: 0, upTo: '-1' },
  // A stored seal that somebody has changed may be `null`.
  evolve: (_, { data }) => ({ count: data?.number, upTo: data?.upTo }),
  codec: logSealsCodec,
  snapshot: { type: 'LogSealed', withinMax: 1 },
};

/** Seals the events, unless another process has sealed the log past `after`. */
export const sealEvents =
  (sealable: Sealable): Decision<LogSeals, LogSealed> =>
  ({ count, upTo }) =>
    sealable.after === upTo ? [{ type: 'LogSealed', data: { number: count + 1, ...sealable } }] : [];
