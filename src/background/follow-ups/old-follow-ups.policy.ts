import type { Recorded } from '../../kernel/event-sourcing/events.js';
import type { FollowUpId, FollowUpsEvent } from './follow-ups.events.js';

/** The oldest follow-ups of a conversation. Before revision `before` the stream has events of no other follow-ups. */
export type OldFollowUps = Readonly<{ followUpIds: readonly FollowUpId[]; before: number }>;

/** The longest beginning of a stream whose events are older than a time and whose follow-ups all have an outcome within it. */
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
