import type { TransactionSql } from 'postgres';
import type { Change } from '../../../projections/projection.js';
import { decode } from '../../kernel/event-sourcing/codec.js';
import { categoryOf, type StoredEvent } from '../../kernel/event-sourcing/event-store.js';
import type { Definition } from './definition.js';

/** What an event changes, by the projection's own word. @throws Undecodable, and whatever a handler stumbles over */
export function changesOf({ projection }: Definition, event: StoredEvent, tx: TransactionSql): readonly Change[] {
  const { every, on, codec } = projection;
  if (every) return asList(every(event, tx));
  const handle = on[event.type];
  if (!handle) return [];
  const decoded = decode(codec, event);
  return decoded ? asList(handle(decoded, tx)) : [];
}

const asList = (changes: Change | readonly Change[]): readonly Change[] =>
  Array.isArray(changes) ? (changes as readonly Change[]) : [changes as Change];

/** Whether a filter lets an event pass; the store asks it too, but pages in tests and held events come from elsewhere. */
export function concerns(
  { projection: { categories, exceptCategories } }: Definition,
  { stream }: Pick<StoredEvent, 'stream'>,
): boolean {
  const category = categoryOf(stream);
  return (categories?.includes(category) ?? true) && !exceptCategories?.includes(category);
}

/** What is set aside together with an event. */
export const entityOf = ({ projection }: Definition, event: StoredEvent): string => projection.entity?.(event) ?? event.stream;
