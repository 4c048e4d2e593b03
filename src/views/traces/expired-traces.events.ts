import type { Event } from '../../kernel/event-sourcing/events.js';

/** The traces that began before a time have expired, with their spans from before it. The log keeps the events that they show. */
export type TracesExpired = Event<'TracesExpired', { before: string; expiredAt: string }>;

export const EXPIRED_TRACES_CATEGORY = 'expiredTraces';

/** The only stream of its category. */
export const EXPIRED_TRACES_STREAM = `${EXPIRED_TRACES_CATEGORY}-all`;
