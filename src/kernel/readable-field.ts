import { Rejection } from './rejection.js';

/** The reader of forms puts this for bytes that are no UTF-8. A client that sends it itself has text that was damaged before. */
const REPLACEMENT_CHARACTER = '\uFFFD';

/** @throws Rejection invalid-request for a field of a form that was not valid UTF-8 */
export function refuseUnreadableField(name: string, value: unknown): void {
  if (![name, value].some((text) => JSON.stringify(text)?.includes(REPLACEMENT_CHARACTER))) return;
  throw new Rejection('invalid-request', `The form field ${JSON.stringify(name)} is not valid UTF-8.`);
}
