import type { NotedWork, Pause, TurnPaused } from './conversation.events.js';
import { type Conversation, isUnfinished, type Turn } from './turn.policy.js';

/** The mark of a conversation in the sidebar, most urgent first: red, amber, a spinner, purple, a ring. */
export type Mark = 'failed' | 'approval' | 'running' | 'unread' | 'monitor';

/**
 * The mark of a conversation. A failed answer is marked until the conversation is opened or gets another question; an answer or a
 * failed job until it is opened. A turn that only waits for the client's own code has no mark: nothing runs, and the owner cannot
 * do anything.
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

/** Whether a turn waits for an approval by the owner. */
export const awaitsOwner = ({ status, pause }: Turn): boolean => status === 'paused' && hasApproval(pause!);

/** Whether the owner has to decide on any of the calls. */
export const awaitsApproval = ({ data }: TurnPaused): boolean => hasApproval(data);

const hasApproval = ({ calls }: Pick<Pause, 'calls'>): boolean =>
  calls.some(({ pauseType }) => pauseType === 'awaiting_approval');
