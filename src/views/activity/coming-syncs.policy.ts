import type { Span } from './forecast.policy.js';

export type ComingSync = Readonly<{ sourceId: string; name: string; frequency: string; nextSyncAt: Date }>;

export type SyncEventRecord = Readonly<{
  kind: 'sync';
  at: string;
  frequency: string;
  sources: readonly Readonly<{ id: string; name: string }>[];
}>;

const MINUTE_MS = 60_000;

/**
 * The coming syncs in a window, in order of time. Sources with the same frequency that are due in the same minute share one
 * event.
 */
export function syncEvents(syncs: readonly ComingSync[], window: Span, now: number): readonly SyncEventRecord[] {
  const events = new Map<string, SyncEventRecord & { sources: { id: string; name: string }[] }>();
  const inOrder = [...syncs].sort((one, other) => one.nextSyncAt.getTime() - other.nextSyncAt.getTime());
  for (const { sourceId, name, frequency, nextSyncAt } of inOrder) {
    const at = nextSyncAt.getTime();
    if (at < Math.max(window.from, now) || at >= window.until) continue;
    const key = `${Math.floor(at / MINUTE_MS)} ${frequency}`;
    const source = { id: sourceId, name };
    const event = events.get(key);
    if (event) event.sources.push(source);
    else events.set(key, { kind: 'sync', at: nextSyncAt.toISOString(), frequency, sources: [source] });
  }
  return [...events.values()];
}
