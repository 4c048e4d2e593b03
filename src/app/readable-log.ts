import type { EventStore } from '../kernel/event-sourcing/event-store.js';
import { type LogUse, requireLogFormat } from '../kernel/event-sourcing/log-format.js';
import { GatedEventStore } from '../platform/event-store/gated-event-store.js';
import { isOutage } from '../platform/supervision/outage.js';
import { type OnOutage, throughOutages } from '../platform/supervision/start-up.js';
import { systemClock } from '../platform/system-clock.js';
import { systemIds } from '../platform/system-ids.js';
import { systemTiming } from '../platform/system-timing.js';

/** Checks, or declares, the format of a log. @throws UnreadableLog, StoreUnavailable */
export const requireReadable = (store: EventStore, use: LogUse): Promise<void> =>
  requireLogFormat({ store, timing: systemTiming, clock: systemClock, ids: systemIds }, use);

type Watch = Readonly<{ onLost: (error: Error) => void; onOutage: OnOutage; signal: AbortSignal }>;

/**
 * The log, once its format was checked. A store that is away is checked as soon as it answers, and is used by nothing before:
 * the process starts meanwhile and is not ready. @throws UnreadableLog
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
