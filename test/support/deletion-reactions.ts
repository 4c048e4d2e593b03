import type { Event, Recorded } from '../../src/kernel/event-sourcing/events.js';
import { cause } from './turns.js';

/** An event as a reaction receives it, at position 7. */
export const received = <E extends Event>(data: E['data']) => ({ id: 'e', data, cause, position: 7n }) as unknown as Recorded<E>;

/** Read models that have reached every position. Each wait for them is recorded. */
export function reachedReadModels() {
  const awaited: string[] = [];
  const reached = async (names: readonly string[], position: bigint | undefined) => {
    awaited.push(`${names.join()} ${position}`);
    return true;
  };
  return { awaited, freshness: { reached } };
}
