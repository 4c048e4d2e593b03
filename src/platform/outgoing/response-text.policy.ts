import type { OutgoingResponse } from './outgoing-http.port.js';

const TEXT_TYPES = /^(text\/|application\/(json|xml|javascript|yaml|x-yaml|x-ndjson|graphql|[\w.-]+\+(json|xml|yaml))\b)/i;

/** Whether an answer is text: as it says, else as its first bytes look. */
export function isText({ headers, body }: OutgoingResponse): boolean {
  const type = headers['content-type'];
  if (type !== undefined && type.trim() !== '') return TEXT_TYPES.test(type) || type.includes('x-www-form-urlencoded');
  return !body.subarray(0, 1024).includes(0);
}

export const isJson = ({ headers }: OutgoingResponse): boolean =>
  /^\s*application\/([\w.-]+\+)?json\b/i.test(headers['content-type'] ?? '');

/** The body in the character set it says; what cannot be read is replaced. */
export function textOf({ headers, body }: OutgoingResponse): string {
  const charset = /charset\s*=\s*"?([\w:.-]+)/i.exec(headers['content-type'] ?? '')?.[1] ?? 'utf-8';
  try {
    return new TextDecoder(charset).decode(body);
  } catch {
    return new TextDecoder().decode(body);
  }
}
