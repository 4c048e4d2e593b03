import { hash } from 'node:crypto';

/** Fresh random ids, as the core makes them; tests bring their own. */
export abstract class Ids {
  abstract next(): string;
}

/** A fresh random id for an aggregate, a request or a run, where one is made at the edge and handed in. */
export const newId = (): string => crypto.randomUUID();

/** The same parts always give the same UUID (version 8, SHA-256), so that a repeated append is recognised as a repetition. */
export function deterministicId(...parts: readonly (string | number)[]): string {
  // Every event has one: hashing in one call takes a third of what the streaming hash takes.
  const hex = hash('sha256', JSON.stringify(parts), 'hex');
  const variant = '89ab'[Number.parseInt(hex[16]!, 16) & 3]!;
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

export const isId = (text: unknown): text is string => typeof text === 'string' && UUID.test(text);
