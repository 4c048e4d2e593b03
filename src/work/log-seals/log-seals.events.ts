import type { Event } from '../../kernel/event-sourcing/events.js';

/** An event, and the SHA-256 of its line in the export of the audit log, in hexadecimal digits. */
export type SealedEvent = readonly [stream: string, revision: number, sha256: string];

/**
 * The audited events of the log after the position `after` up to `upTo`, in order. The seal before this one is among them, so the
 * hash of the newest seal stands for the whole log before it. `number` counts from 1.
 */
export type LogSealed = Event<'LogSealed', { number: number; after: string; upTo: string; events: readonly SealedEvent[] }>;

export const LOG_SEALS_CATEGORY = 'logSeals';

/** The only stream of its category. */
export const LOG_SEALS_STREAM = `${LOG_SEALS_CATEGORY}-log`;
