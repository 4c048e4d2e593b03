import type { JSONValue } from 'postgres';

/** A text that Postgres can store. Postgres rejects NUL, so the replacement character takes its place. */
export const asText = (text: string): string => (text.includes('\0') ? text.replaceAll('\0', '\uFFFD') : text);

/** A value that `jsonb` can store. It rejects NUL and lone surrogates, which are replaced. It does not keep the order of keys. */
export function asJsonb(value: unknown): JSONValue {
  if (typeof value === 'string') return asText(value.toWellFormed());
  if (Array.isArray(value)) return value.map(asJsonb);
  if (typeof value !== 'object' || value === null) return value as JSONValue;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [asText(key.toWellFormed()), asJsonb(each)]));
}
