import type { Recorded } from '../../kernel/event-sourcing/events.js';
import type { WakeId, WakesEvent } from './wakes.events.js';

/** The oldest wakes of a conversation, and the revision before which there is nothing of any other. */
export type OldWakes = Readonly<{ wakeIds: readonly WakeId[]; before: number }>;

/** As much of a stream's beginning as is older than a time and about wakes only of which nothing more is to become. */
export function oldWakes(events: readonly Recorded<WakesEvent>[], settledBefore: Date): OldWakes {
  const open = new Set<WakeId>();
  let wakeIds: readonly WakeId[] = [];
  const seen: WakeId[] = [];
  let before = 0;
  for (const event of events) {
    if (event.at >= settledBefore) break;
    if (event.type === 'WakeRequested') {
      open.add(event.data.wakeId);
      seen.push(event.data.wakeId);
    } else if (event.type !== 'WakesGathered') open.delete(event.data.wakeId);
    if (open.size > 0) continue;
    wakeIds = [...seen];
    before = event.revision + 1;
  }
  return { wakeIds, before };
}
