import type { Event } from './events.js';

/** The first event of every log. It declares the format of the events and the version of the program that started the log. */
export type LogFormatDeclared = Event<'LogFormatDeclared', { format: number; version: string; declaredAt: string }>;

export const LOG_CATEGORY = 'log';

/** The only stream of its category. It is never truncated, so its event remains the first of the log. */
export const LOG_FORMAT_STREAM = `${LOG_CATEGORY}-format`;
