import { Rejection } from './rejection.js';

/** The error codes and messages of streams and of the multipart parser for an incomplete request. */
const BROKEN_OFF = new Set(['ECONNRESET', 'EPIPE', 'ERR_STREAM_PREMATURE_CLOSE', 'FST_MP_PREMATURE_CLOSE']);
const NOT_WHOLE = /unexpected end of multipart data|boundary not found|premature close|^aborted$/i;

/**
 * Turns an error of reading a form that the client caused into a rejection. Others, such as a full disk, are rethrown.
 * @throws Rejection invalid-request
 */
export function refuseIncompleteForm(error: unknown): never {
  const { code, message } = error as { code?: unknown; message?: unknown };
  if (!BROKEN_OFF.has(String(code)) && !NOT_WHOLE.test(String(message))) throw error;
  throw new Rejection('invalid-request', 'The form is incomplete.');
}

/** The form parser inserts this character for invalid UTF-8. A client that sends it itself sends text that was damaged before. */
const REPLACEMENT_CHARACTER = '\uFFFD';

/** @throws Rejection invalid-request if the form field was not valid UTF-8 */
export function refuseUnreadableField(name: string, value: unknown): void {
  if (![name, value].some((text) => JSON.stringify(text)?.includes(REPLACEMENT_CHARACTER))) return;
  throw new Rejection('invalid-request', `The form field ${JSON.stringify(name)} is not valid UTF-8.`);
}
