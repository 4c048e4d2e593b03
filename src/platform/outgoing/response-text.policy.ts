import { declaredCharset } from './declared-charset.policy.js';
import type { OutgoingResponse } from './outgoing-http.port.js';

const TEXT_TYPES = /^(text\/|application\/(json|xml|javascript|yaml|x-yaml|x-ndjson|graphql|[\w.-]+\+(json|xml|yaml))\b)/i;

/** Whether a response is text, by its content type or else by its first bytes. */
export function isText({ headers, body }: OutgoingResponse): boolean {
  const type = headers['content-type'];
  if (type !== undefined && type.trim() !== '') return TEXT_TYPES.test(type) || type.includes('x-www-form-urlencoded');
  return !body.subarray(0, 1024).includes(0);
}

export const isJson = ({ headers }: OutgoingResponse): boolean =>
  /^\s*application\/([\w.-]+\+)?json\b/i.test(headers['content-type'] ?? '');

/**
 * Decodes the body with the character set of its type, else as UTF-8, else with the character set that a page declares. Invalid
 * bytes are replaced.
 */
export function textOf({ headers, body }: OutgoingResponse): string {
  const charset = /charset\s*=\s*"?([\w:.-]+)/i.exec(headers['content-type'] ?? '')?.[1];
  try {
    if (charset !== undefined) return new TextDecoder(charset).decode(body);
  } catch {
    // The character set is unknown.
  }
  const text = new TextDecoder().decode(body);
  return text.includes('\ufffd') ? new TextDecoder(declaredCharset(body)).decode(body) : text;
}
