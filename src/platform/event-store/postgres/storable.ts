import type { NewEvent } from '../../../kernel/event-sourcing/event-store.js';
import { isId } from '../../../kernel/ids.js';

/** Maximum length of a stream name in bytes. Longer names do not fit into the index. */
export const STREAM_NAME_BYTES_MAX = 1024;

/** Separates texts that are sent as one. JSON text never contains it, because JSON escapes control characters. */
export const SEPARATOR = '\u001f';

/**
 * Refuses an append that the tables would refuse, so that it does not fail the appends of its statement. @throws TypeError,
 * RangeError
 */
export function assertStorable(stream: string, expected: number | 'none', events: readonly NewEvent[]): void {
  if (events.length === 0) throw new RangeError(`An append to ${stream} without events.`);
  if (expected !== 'none' && !(Number.isSafeInteger(expected) && expected >= 0))
    throw new RangeError(`${String(expected)} is not a revision.`);
  assertStreamName(stream);
  for (const { id, type, data, metadata } of events) {
    if (!isId(id)) throw new TypeError(`The id of an event is not a UUID in lower case: ${String(id)}`);
    assertText(type, 'The type of an event');
    assertText(data, 'The data of an event');
    assertText(metadata, 'The metadata of an event');
  }
}

/** @throws TypeError, RangeError */
export function assertStreamName(stream: string): void {
  if (Buffer.byteLength(stream) > STREAM_NAME_BYTES_MAX) throw new RangeError(`The name of a stream is too long: "${stream}"`);
  assertText(stream, 'The name of a stream');
}

function assertText(text: string, what: string): void {
  if (text === '') throw new TypeError(`${what} is empty.`);
  if (text.includes(SEPARATOR) || text.includes('\0')) throw new TypeError(`${what} holds a control character.`);
  if (!(text as string & { isWellFormed(): boolean }).isWellFormed()) throw new TypeError(`${what} holds a lone surrogate.`);
}
