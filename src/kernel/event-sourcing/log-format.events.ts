import type { Event } from './events.js';

/** The first event of every log: which format its events have, and which version of the program began it. */
export type LogFormatDeclared = Event<'LogFormatDeclared', { format: number; version: string; declaredAt: string }>;

export const LOG_CATEGORY = 'log';

/** The one stream of its category. Nothing is ever truncated here, so its event stays the first of the log. */
export const LOG_FORMAT_STREAM = `${LOG_CATEGORY}-format`;
