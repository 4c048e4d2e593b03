import { Rejection } from './rejection.js';

/** The form parser inserts this character for invalid UTF-8. A client that sends it itself sends text that was damaged before. */
const REPLACEMENT_CHARACTER = '\uFFFD';

/** @throws Rejection invalid-request if the form field was not valid UTF-8 */
export function refuseUnreadableField(name: string, value: unknown): void {
  if (![name, value].some((text) => JSON.stringify(text)?.includes(REPLACEMENT_CHARACTER))) return;
  throw new Rejection('invalid-request', `The form field ${JSON.stringify(name)} is not valid UTF-8.`);
}
