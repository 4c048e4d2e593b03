import type { ConversationEvent, TurnId, TurnPaused } from './conversation.events.js';

/** The one thing the sidebar says of a conversation, the most urgent first: red, amber, a spinner, purple, a ring. */
export type Mark = 'failed' | 'approval' | 'running' | 'unread' | 'monitor';

type MarkedTurn = Readonly<{ index: number; outcome: 'none' | 'waiting' | 'answered' | 'failed' | 'stopped'; isNew: boolean }>;

/** What the mark of a conversation depends on. */
export type Marked = Readonly<{
  ownerId: string;
  isListed: boolean;
  /** The turns that count, in the order of their questions: none that another took the place of. */
  turns: ReadonlyMap<TurnId, MarkedTurn>;
}>;

export const unmarked: Marked = { ownerId: '', isListed: false, turns: new Map() };

/** A failure shows until the conversation is opened or another question comes; an answer until it is opened. */
export function markOf({ turns }: Marked): Mark | null {
  const all = [...turns.values()];
  const last = all.reduce<MarkedTurn | undefined>((later, turn) => (later && later.index > turn.index ? later : turn), undefined);
  if (last?.outcome === 'failed' && last.isNew) return 'failed';
  if (all.some(({ outcome }) => outcome === 'waiting')) return 'approval';
  if (all.some(({ outcome }) => outcome === 'none')) return 'running';
  return all.some(({ outcome, isNew }) => outcome === 'answered' && isNew) ? 'unread' : null;
}

export function withMarkChangedBy(marked: Marked, event: ConversationEvent): Marked {
  switch (event.type) {
    case 'ConversationStarted':
      return { ...marked, ownerId: event.data.ownerId, isListed: event.data.visibility === 'listed' };
    case 'ConversationOpened':
      return { ...marked, turns: new Map([...marked.turns].map(([id, turn]) => [id, { ...turn, isNew: false }])) };
    case 'ConversationDeleted':
      return { ...marked, turns: new Map() };
    case 'TurnAsked': {
      const { turnId, index } = event.data;
      return { ...marked, turns: new Map(marked.turns).set(turnId, { index, outcome: 'none', isNew: false }) };
    }
    case 'TurnsSuperseded':
      return { ...marked, turns: new Map([...marked.turns].filter(([id]) => !event.data.turnIds.includes(id))) };
    case 'TurnAnswered':
      return noted(marked, event.data.turnId, 'answered');
    case 'TurnFailed':
      return noted(marked, event.data.turnId, 'failed');
    case 'TurnStopped':
      return noted(marked, event.data.turnId, 'stopped');
    case 'TurnPaused':
      return noted(marked, event.data.turnId, awaitsApproval(event) ? 'waiting' : 'none');
    case 'TurnResumed':
      return noted(marked, event.data.turnId, 'none');
    case 'ConversationRenamed':
    case 'ToolCallStarted':
    case 'ToolCallFinished':
    case 'ToolCallApproved':
    case 'ToolCallDenied':
    case 'ToolCallAnswered':
    case 'TurnHandedOn':
    case 'TurnStarted':
    case 'TurnStopRequested':
    case 'TurnSealed':
    case 'TurnRated':
      return marked;
  }
}

function noted(marked: Marked, turnId: TurnId, outcome: MarkedTurn['outcome']): Marked {
  const turn = marked.turns.get(turnId);
  if (!turn) return marked;
  return {
    ...marked,
    turns: new Map(marked.turns).set(turnId, { ...turn, outcome, isNew: outcome === 'answered' || outcome === 'failed' }),
  };
}

const awaitsApproval = ({ data }: TurnPaused): boolean => data.calls.some(({ pauseType }) => pauseType === 'awaiting_approval');
