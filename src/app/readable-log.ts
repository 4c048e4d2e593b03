import type { EventStore } from '../kernel/event-sourcing/event-store.js';
import { type LogUse, requireLogFormat } from '../kernel/event-sourcing/log-format.js';
import { GatedEventStore } from '../platform/event-store/gated-event-store.js';
import { isOutage } from '../platform/supervision/outage.js';
import { type OnOutage, throughOutages } from '../platform/supervision/start-up.js';
import { systemClock } from '../platform/system-clock.js';
import { systemIds } from '../platform/system-ids.js';
import { systemTiming } from '../platform/system-timing.js';

/** Checks the format of a log, or declares it in an empty one. @throws UnreadableLog, StoreUnavailable */
export const requireReadable = (store: EventStore, use: LogUse): Promise<void> =>
  requireLogFormat({ store, timing: systemTiming, clock: systemClock, ids: systemIds }, use);

type Watch = Readonly<{ onLost: (error: Error) => void; onOutage: OnOutage; signal: AbortSignal }>;

/**
 * The log after its format was checked. An unavailable store is checked as soon as it answers, and every use of it fails before.
 * The process starts meanwhile and is not ready. @throws UnreadableLog
 */
export async function readableLog(store: EventStore, use: LogUse, { onLost, onOutage, signal }: Watch): Promise<EventStore> {
  try {
    await requireReadable(store, use);
    return store;
  } catch (error) {
    if (!isOutage(error)) throw error;
  }
  const gated = new GatedEventStore(store);
  const check = async () => {
    if (signal.aborted) return;
    await requireReadable(store, use);
    gated.open();
  };
  throughOutages(systemTiming, check, (error, waitMs) => signal.aborted || onOutage(error, waitMs)).catch((error: unknown) => {
    if (!signal.aborted) onLost(error as Error);
  });
  return gated;
}
