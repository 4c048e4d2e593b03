import type { Recorded } from '../../../kernel/event-sourcing/events.js';
import type {
  ConversationEvent,
  ConversationPurged,
  ConversationStarted,
  PurgedTurn,
  ReportedUsage,
  TurnAsked,
  TurnId,
  TurnOutcome,
  TurnPaused,
  TurnSealed,
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

type Attribution = ConversationPurged['data']['deleted'];

const attributionOf = ({ cause: { actor, credential }, at }: Recorded): Attribution => ({
  actor,
  credential,
  at: at.toISOString(),
});

/** What is known of a turn so far. It has no `lastId` until it is sealed. */
type TurnFacts = { turnId: TurnId; lastId: number | undefined; question: PurgedTurn['question']; told: ReportedUsage[] };

/** Collects the facts from the events of a conversation, one after the other, and keeps no text of them. */
export class PurgeableFacts {
  private started:
    | (Pick<ConversationStarted['data'], 'conversationId' | 'ownerId' | 'agentId'> & { attribution: Attribution })
    | undefined;
  private deleted: Attribution | undefined;
  private isPurged = false;
  /** The revision of the first event of the purge, or the one after the last event. */
  private keptFrom = 0;
  private hasPurgedTurns = false;
  private readonly turns = new Map<TurnId, TurnFacts>();
  private readonly recorded: TurnId[] = [];
  private readonly continuations: PurgeableConversation['continuations'][number][] = [];

  add(event: Recorded<ConversationEvent>): void {
    this.hasPurgedTurns ||= event.type === 'TurnsPurged';
    if (!this.hasPurgedTurns) this.keptFrom = event.revision + 1;
    switch (event.type) {
      case 'ConversationStarted': {
        const { conversationId, ownerId, agentId } = event.data;
        this.started = { conversationId, ownerId, agentId, attribution: attributionOf(event) };
        return;
      }
      case 'ConversationDeleted':
        this.deleted = attributionOf(event);
        return;
      case 'ConversationPurged':
        this.isPurged = true;
        return;
      case 'TurnAppended':
        this.open({ turnId: event.data.turnId, lastId: event.data.lastId, question: null, told: [] });
        return;
      case 'TurnAsked':
        this.open({ turnId: event.data.turnId, lastId: undefined, question: questionOf(event), told: [] });
        if (recordsItsSteps(event.data.settings)) this.recorded.push(event.data.turnId);
        return;
      case 'TurnSealed':
        this.seal(event);
        return;
      case 'TurnPaused': {
        const { turnId, continuation } = event.data;
        this.count(event);
        if ('blob' in continuation && continuation.isOwn) this.continuations.push({ turnId, sha256: continuation.blob.sha256 });
        return;
      }
      case 'TurnAnswered':
      case 'TurnFailed':
      case 'TurnStopped':
        this.count(event);
    }
  }

  /** Undefined if the conversation is not deleted, has unsealed turns, or is already purged. */
  found(): PurgeableConversation | undefined {
    const { started, deleted, isPurged, keptFrom, recorded, continuations } = this;
    const turns = [...this.turns.values()].filter((turn): turn is TurnFacts & PurgedTurn => turn.lastId !== undefined);
    if (!started || !deleted || isPurged || turns.length < this.turns.size) return undefined;
    const { attribution, ...about } = started;
    return { kept: { ...about, keptFrom, turns: turns.length, started: attribution, deleted }, turns, recorded, continuations };
  }

  private open(turn: TurnFacts): void {
    this.turns.set(turn.turnId, turn);
  }

  private seal({ data: { turnId, lastId } }: TurnSealed): void {
    const turn = this.turns.get(turnId);
    if (turn) turn.lastId = lastId;
  }

  private count({ type, data, revision, at }: Recorded<TurnPaused | TurnOutcome>): void {
    const turn = this.turns.get(data.turnId);
    if (!turn || !data.usage) return;
    const { promptTokens, completionTokens } = data.usage;
    turn.told.push({ revision, at: at.toISOString(), promptTokens, completionTokens });
    if (type === 'TurnAnswered' && turn.question) turn.question = { ...turn.question, modelId: data.modelId };
  }
}

function questionOf(asked: Recorded<TurnAsked>): PurgedTurn['question'] {
  const { settings, origin } = asked.data;
  const { agentId, agentKeyId, modelId } = settings;
  return { ...attributionOf(asked), revision: asked.revision, agentId, agentKeyId, origin: origin?.kind ?? null, modelId };
}
