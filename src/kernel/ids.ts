import { createHash, randomUUID } from 'node:crypto';

/** A fresh random id for an aggregate, a request or a run. */
export const newId = (): string => randomUUID();

/** The same parts always give the same UUID (version 8, SHA-256), so that a repeated append is recognised as a repetition. */
export function deterministicId(...parts: readonly (string | number)[]): string {
  const hash = createHash('sha256').update(JSON.stringify(parts)).digest();
  hash[6] = (hash[6]! & 0x0f) | 0x80;
  hash[8] = (hash[8]! & 0x3f) | 0x80;
  const hex = hash.toString('hex', 0, 16);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

export const isId = (text: unknown): text is string => typeof text === 'string' && UUID.test(text);
