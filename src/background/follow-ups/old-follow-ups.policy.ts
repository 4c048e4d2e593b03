import type { Recorded } from '../../kernel/event-sourcing/events.js';
import type { FollowUpId, FollowUpsEvent } from './follow-ups.events.js';

/** The oldest follow-ups of a conversation, and the revision before which there is nothing of any other. */
export type OldFollowUps = Readonly<{ followUpIds: readonly FollowUpId[]; before: number }>;

/** As much of a stream's beginning as is older than a time and about follow-ups only of which nothing more is to become. */
export function oldFollowUps(events: readonly Recorded<FollowUpsEvent>[], settledBefore: Date): OldFollowUps {
  const open = new Set<FollowUpId>();
  let followUpIds: readonly FollowUpId[] = [];
  const seen: FollowUpId[] = [];
  let before = 0;
  for (const event of events) {
    if (event.at >= settledBefore) break;
    if (event.type === 'FollowUpRequested') {
      open.add(event.data.followUpId);
      seen.push(event.data.followUpId);
    } else if (event.type !== 'FollowUpsGathered') open.delete(event.data.followUpId);
    if (open.size > 0) continue;
    followUpIds = [...seen];
    before = event.revision + 1;
  }
  return { followUpIds, before };
}
