import type { JSONValue } from 'postgres';

/** Postgres keeps any character in a text but NUL; where a fact has one, the read model shows the replacement character. */
export const asText = (text: string): string => (text.includes('\0') ? text.replaceAll('\0', '\uFFFD') : text);

/** What `jsonb` keeps of a value: like a text, it can hold no NUL, and no half of a surrogate pair. The order of keys is lost. */
export function asJsonb(value: unknown): JSONValue {
  if (typeof value === 'string') return asText(value.toWellFormed());
  if (Array.isArray(value)) return value.map(asJsonb);
  if (typeof value !== 'object' || value === null) return value as JSONValue;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [asText(key.toWellFormed()), asJsonb(each)]));
}
