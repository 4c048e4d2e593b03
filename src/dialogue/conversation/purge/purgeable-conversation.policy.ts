import type { Recorded } from '../../../kernel/event-sourcing/events.js';
import type {
  ConversationDeleted,
  ConversationEvent,
  ConversationPurged,
  ConversationStarted,
  PurgedTurn,
  TurnAppended,
  TurnAsked,
  TurnId,
} from '../conversation.events.js';
import { recordsItsSteps } from '../turn.policy.js';

/** The facts of a deleted conversation that its purge needs. */
export type PurgeableConversation = Readonly<{
  /** The facts that are kept after the purge. */
  kept: Omit<ConversationPurged['data'], 'purgedAt'>;
  turns: readonly PurgedTurn[];
  /** The turns whose agents record their steps in other streams. */
  recorded: readonly TurnId[];
  /** The blobs with continuations of paused turns. */
  continuations: readonly Readonly<{ turnId: TurnId; sha256: string }>[];
}>;

type Deed = ConversationPurged['data']['deleted'];

const deedOf = ({ cause: { actor, credential }, at }: Recorded): Deed => ({ actor, credential, at: at.toISOString() });

/**
 * Collects the facts from all events of a conversation. Undefined if it is not deleted, has unsealed turns, or is already purged.
 */
export function purgeableIn(events: readonly Recorded<ConversationEvent>[]): PurgeableConversation | undefined {
  const started = events.find((event): event is Recorded<ConversationStarted> => event.type === 'ConversationStarted');
  const deleted = events.find((event): event is Recorded<ConversationDeleted> => event.type === 'ConversationDeleted');
  if (!started || !deleted || events.some(({ type }) => type === 'ConversationPurged')) return undefined;
  const openings = events.flatMap((event) => (event.type === 'TurnAsked' || event.type === 'TurnAppended' ? [event] : []));
  const ofTurns = eventsByTurn(events);
  const turns = openings.map((event) => purged(event, ofTurns.get(event.data.turnId)!));
  if (!turns.every((turn) => turn !== undefined)) return undefined;
  const firstPurge = events.find(({ type }) => type === 'TurnsPurged');
  const { conversationId, ownerId, agentId } = started.data;
  return {
    kept: {
      ...{ conversationId, ownerId, agentId },
      keptFrom: firstPurge?.revision ?? events.at(-1)!.revision + 1,
      turns: turns.length,
      ...{ started: deedOf(started), deleted: deedOf(deleted) },
    },
    turns,
    recorded: openings.flatMap(({ type, data }) => (type === 'TurnAsked' && recordsItsSteps(data.settings) ? [data.turnId] : [])),
    continuations: events.flatMap(({ type, data }) => {
      if (type !== 'TurnPaused' || !('blob' in data.continuation) || !data.continuation.isOwn) return [];
      return [{ turnId: data.turnId, sha256: data.continuation.blob.sha256 }];
    }),
  };
}

function eventsByTurn(
  events: readonly Recorded<ConversationEvent>[],
): ReadonlyMap<TurnId, readonly Recorded<ConversationEvent>[]> {
  const ofTurns = new Map<TurnId, Recorded<ConversationEvent>[]>();
  for (const event of events) {
    if (!('turnId' in event.data)) continue;
    const known = ofTurns.get(event.data.turnId);
    if (known) known.push(event);
    else ofTurns.set(event.data.turnId, [event]);
  }
  return ofTurns;
}

type TurnOpening = Recorded<TurnAsked> | Recorded<TurnAppended>;

/** The facts of a turn; undefined if it is not sealed. */
function purged(opening: TurnOpening, events: readonly Recorded<ConversationEvent>[]): PurgedTurn | undefined {
  const { turnId } = opening.data;
  if (opening.type === 'TurnAppended') return { turnId, lastId: opening.data.lastId, question: null, told: [] };
  const sealed = events.find(({ type }) => type === 'TurnSealed');
  if (sealed?.type !== 'TurnSealed') return undefined;
  const { agentId, agentKeyId, modelId } = opening.data.settings;
  return {
    turnId,
    lastId: sealed.data.lastId,
    question: {
      ...deedOf(opening),
      revision: opening.revision,
      ...{ agentId, agentKeyId },
      origin: opening.data.origin?.kind ?? null,
      modelId: events.reduce((known, event) => modelIn(event) ?? known, modelId),
    },
    told: events.flatMap(usageIn),
  };
}

const modelIn = (event: ConversationEvent): string | undefined =>
  event.type === 'TurnAnswered' && event.data.usage ? event.data.modelId : undefined;

function usageIn(event: Recorded<ConversationEvent>): PurgedTurn['told'] {
  const { type, data, revision, at } = event;
  if (type !== 'TurnPaused' && type !== 'TurnAnswered' && type !== 'TurnFailed' && type !== 'TurnStopped') return [];
  if (!data.usage) return [];
  const { promptTokens, completionTokens } = data.usage;
  return [{ revision, at: at.toISOString(), promptTokens, completionTokens }];
}
