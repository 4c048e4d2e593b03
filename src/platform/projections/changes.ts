import type { TransactionSql } from 'postgres';
import type { Change } from '../../../projections/projection.js';
import { type Codec, decode } from '../../kernel/event-sourcing/codec.js';
import { categoryOf, type StoredEvent } from '../../kernel/event-sourcing/event-store.js';
import type { Definition } from './definition.js';

/**
 * The changes that a projection makes for an event. Several projections share the event that `decodes` has decoded.
 * @throws Undecodable, and the error of a handler
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

/** A decoder that decodes each event once for all projections with the same codec steps. */
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

/**
 * Whether a projection's filter matches an event. The store filters too, but held events and pages in tests do not come from it.
 */
export function concerns(
  { projection: { categories, exceptCategories } }: Definition,
  { stream }: Pick<StoredEvent, 'stream'>,
): boolean {
  const category = categoryOf(stream);
  return (categories?.includes(category) ?? true) && !exceptCategories?.includes(category);
}

/** The entity that is parked together with an event. */
export const entityOf = ({ projection }: Definition, event: StoredEvent): string => projection.entity?.(event) ?? event.stream;
