import type { BackgroundWorkNoted } from './conversation.events.js';
import type { Decide } from './turn.policy.js';

/** How work beside the conversation stands; what is older than what was noted of it is nothing new. */
export const noteWork =
  (noted: BackgroundWorkNoted['data']): Decide =>
  ({ status, workNoted }) =>
    status === 'open' && (workNoted.get(noted.work.id) ?? -1) < noted.asOf ? [{ type: 'BackgroundWorkNoted', data: noted }] : [];
