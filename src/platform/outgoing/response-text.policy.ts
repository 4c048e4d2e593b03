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

/** Decodes the body with its declared character set. Invalid bytes are replaced. */
export function textOf({ headers, body }: OutgoingResponse): string {
  const charset = /charset\s*=\s*"?([\w:.-]+)/i.exec(headers['content-type'] ?? '')?.[1] ?? 'utf-8';
  try {
    return new TextDecoder(charset).decode(body);
  } catch {
    return new TextDecoder().decode(body);
  }
}
