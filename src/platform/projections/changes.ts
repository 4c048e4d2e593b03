import type { TransactionSql } from 'postgres';
import type { Change } from '../../../projections/projection.js';
import { type Codec, decode } from '../../kernel/event-sourcing/codec.js';
import { categoryOf, type StoredEvent } from '../../kernel/event-sourcing/event-store.js';
import type { Definition } from './definition.js';

/**
 * What an event changes, by the projection's own word. Several projections of one event share what `decodes` has decoded.
 * @throws Undecodable, and whatever a handler stumbles over
 */
export function changesOf(
  { projection }: Definition,
  event: StoredEvent,
  tx: TransactionSql,
  decodes: typeof decode = decode,
): readonly Change[] {
  const { every, on, codec } = projection;
  if (every) return asList(every(event, tx));
  const handle = on[event.type];
  if (!handle) return [];
  const decoded = decodes(codec, event);
  return decoded ? asList(handle(decoded, tx)) : [];
}

/** Decodes each event once, however many projections ask for it by the same steps. */
export function decodingOnce(): typeof decode {
  const known = new Map<StoredEvent, Readonly<{ steps: unknown; decoded: unknown }>>();
  return (codec, event) => {
    const steps = (codec as Codec)[event.type];
    const found = known.get(event);
    if (found && found.steps === steps) return found.decoded as ReturnType<typeof decode<never>>;
    const decoded = decode(codec, event);
    known.set(event, { steps, decoded });
    return decoded;
  };
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
