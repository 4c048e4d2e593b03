import { APPEND_PATIENCE_MS, appendWithRetry } from '../../src/kernel/event-sourcing/append-with-retry.js';
import type { Appended, EventStore, ExpectedRevision, NewEvent } from '../../src/kernel/event-sourcing/event-store.js';
import { systemTiming } from '../../src/platform/system-timing.js';

/** Appends to a local store, and repeats while the outcome is unknown. */
export const appendSurely = (
  store: EventStore,
  stream: string,
  expected: ExpectedRevision,
  events: readonly NewEvent[],
  patienceMs = APPEND_PATIENCE_MS,
): Promise<Appended> => appendWithRetry(store, systemTiming, patienceMs, () => store.append(stream, expected, events));
