import { afterLeaving } from './counted-turns.policy.js';
import type { BackgroundWorkNoted, ConversationEvent, TurnId, TurnPaused } from './conversation.events.js';

/** The one thing the sidebar says of a conversation, the most urgent first: red, amber, a spinner, purple, a ring. */
export type Mark = 'failed' | 'approval' | 'running' | 'unread' | 'monitor';

type MarkedTurn = Readonly<{
  index: number;
  /** Always false: turns that no longer count are left out. */
  superseded: boolean;
  state: 'running' | 'awaits approval' | 'awaits client' | 'answered' | 'failed' | 'stopped';
  /** How it ended has not been seen yet. */
  isNew: boolean;
}>;

type MarkedWork = Readonly<{
  kind: 'job' | 'monitor';
  status: BackgroundWorkNoted['data']['status'];
  /** How it stands has not been seen yet. */
  isNew: boolean;
}>;

/** What the mark of a conversation depends on. */
export type Marked = Readonly<{
  ownerId: string;
  isListed: boolean;
  /** The turns that count, in the order of their questions: none that another took the place of. */
  turns: ReadonlyMap<TurnId, MarkedTurn>;
  /** What goes on beside them, by its id. */
  works: ReadonlyMap<string, MarkedWork>;
}>;

export const unmarked: Marked = { ownerId: '', isListed: false, turns: new Map(), works: new Map() };

/**
 * A failed answer shows until the conversation is opened or another question comes; an answer, and a job that failed, until it is
 * opened. A turn that waits for the client's own code alone is nothing to show: nothing runs, and there is nothing for the owner to do.
 */
export function markOf({ turns, works }: Marked): Mark | null {
  const all = [...turns.values()];
  const beside = [...works.values()];
  const isActive = (kind: MarkedWork['kind']) => beside.some((work) => work.kind === kind && work.status === 'active');
  const last = all.reduce<MarkedTurn | undefined>((later, turn) => (later && later.index > turn.index ? later : turn), undefined);
  if (last?.state === 'failed' && last.isNew) return 'failed';
  if (beside.some(({ status, isNew }) => status === 'failed' && isNew)) return 'failed';
  if (all.some(({ state }) => state === 'awaits approval')) return 'approval';
  if (all.some(({ state }) => state === 'running') || isActive('job')) return 'running';
  if (all.some(({ state, isNew }) => state === 'answered' && isNew)) return 'unread';
  return isActive('monitor') ? 'monitor' : null;
}

export function withMarkChangedBy(marked: Marked, event: ConversationEvent): Marked {
  switch (event.type) {
    case 'ConversationStarted':
      return { ...marked, ownerId: event.data.ownerId, isListed: event.data.visibility === 'listed' };
    case 'ConversationOpened':
      return { ...marked, turns: seen(marked.turns), works: seen(marked.works) };
    case 'ConversationDeleted':
      return { ...marked, turns: new Map(), works: new Map() };
    case 'BackgroundWorkNoted': {
      const { work, status } = event.data;
      return { ...marked, works: new Map(marked.works).set(work.id, { kind: work.kind, status, isNew: true }) };
    }
    case 'TurnAsked': {
      const { turnId, index } = event.data;
      return {
        ...marked,
        turns: new Map(marked.turns).set(turnId, { index, superseded: false, state: 'running', isNew: false }),
      };
    }
    case 'TurnAppended': {
      const { turnId, index } = event.data;
      return {
        ...marked,
        turns: new Map(marked.turns).set(turnId, { index, superseded: false, state: 'answered', isNew: true }),
      };
    }
    case 'TurnWithdrawn':
    case 'TurnsSuperseded':
      return { ...marked, turns: counting(afterLeaving(marked.turns, event)) };
    case 'TurnAnswered':
      return noted(marked, event.data.turnId, 'answered');
    case 'TurnFailed':
      return noted(marked, event.data.turnId, 'failed');
    case 'TurnStopped':
      return noted(marked, event.data.turnId, 'stopped');
    case 'TurnPaused':
      return noted(marked, event.data.turnId, awaitsApproval(event) ? 'awaits approval' : 'awaits client');
    case 'TurnResumed':
      return noted(marked, event.data.turnId, 'running');
    case 'ConversationRenamed':
    case 'ToolCallStarted':
    case 'ToolCallFinished':
    case 'ToolCallApproved':
    case 'ToolCallDenied':
    case 'ToolCallAnswered':
    case 'TurnRequeued':
    case 'TurnStarted':
    case 'TurnStopRequested':
    case 'TurnSealed':
    case 'TurnRated':
      return marked;
  }
}

const seen = <T>(things: ReadonlyMap<string, T>): ReadonlyMap<string, T> =>
  new Map([...things].map(([id, thing]) => [id, { ...thing, isNew: false }]));

const counting = (turns: Marked['turns']): Marked['turns'] => new Map([...turns].filter(([, { superseded }]) => !superseded));

function noted(marked: Marked, turnId: TurnId, state: MarkedTurn['state']): Marked {
  const turn = marked.turns.get(turnId);
  if (!turn) return marked;
  return {
    ...marked,
    turns: new Map(marked.turns).set(turnId, { ...turn, state, isNew: state === 'answered' || state === 'failed' }),
  };
}

/** Whether the owner is to decide on any of the calls. */
export const awaitsApproval = ({ data }: TurnPaused): boolean =>
  data.calls.some(({ pauseType }) => pauseType === 'awaiting_approval');
