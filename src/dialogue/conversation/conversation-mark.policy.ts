import type { NotedWork, Pause, TurnPaused } from './conversation.events.js';
import { type Conversation, isUnfinished, type Turn } from './turn.policy.js';

/** The one thing the sidebar says of a conversation, the most urgent first: red, amber, a spinner, purple, a ring. */
export type Mark = 'failed' | 'approval' | 'running' | 'unread' | 'monitor';

/**
 * A failed answer shows until the conversation is opened or another question comes; an answer, and a job that failed, until it is
 * opened. A turn that waits for the client's own code alone is nothing to show: nothing runs, and there is nothing for the owner to do.
 */
export function markOf({ status, turns, works, nextIndex }: Conversation): Mark | null {
  if (status !== 'open') return null;
  const counting = [...turns.values()].filter(({ superseded }) => !superseded);
  const beside = [...works.values()];
  const isActive = (kind: NotedWork['kind']) => beside.some((work) => work.kind === kind && work.status === 'active');
  if (counting.some((turn) => turn.status === 'failed' && turn.unseen && turn.index === nextIndex - 1)) return 'failed';
  if (beside.some((work) => work.status === 'failed' && work.unseen)) return 'failed';
  if (counting.some(awaitsOwner)) return 'approval';
  if (counting.some(isUnfinished) || isActive('job')) return 'running';
  if (counting.some((turn) => turn.status === 'answered' && turn.unseen)) return 'unread';
  return isActive('monitor') ? 'monitor' : null;
}

/** Whether a turn waits for an approval of the owner's. */
export const awaitsOwner = ({ status, pause }: Turn): boolean => status === 'paused' && hasApproval(pause!);

/** Whether the owner is to decide on any of the calls. */
export const awaitsApproval = ({ data }: TurnPaused): boolean => hasApproval(data);

const hasApproval = ({ calls }: Pick<Pause, 'calls'>): boolean =>
  calls.some(({ pauseType }) => pauseType === 'awaiting_approval');
