import { CommandHandler } from '@nestjs/cqrs';
import { Clock } from '../../../kernel/clock.js';
import { Command, type Handler } from '../../../kernel/commands.js';
import type { Cause } from '../../../kernel/event-sourcing/events.js';
import { nothingYet, type Outcome, Streams } from '../../../kernel/event-sourcing/streams.js';
import { linkIdIn } from '../../../resources/identity/caller.js';
import type { Party } from '../../conversation/conversation-access.policy.js';
import { as, ask, conversation } from '../../conversation/conversation.decider.js';
import { startTurn } from '../../conversation/turn.decider.js';
import { EarlierTurns, unlessOmitted } from '../../conversation/earlier-turns.port.js';
import { type ConversationEvent, conversationStream, type Usage } from '../../conversation/conversation.events.js';
import { type CallAnswer, resume } from '../../conversation/pause.decider.js';
import type { Conversation, Decide } from '../../conversation/turn.policy.js';
import { askedTranscript } from '../loop/transcript.js';
import { nameFor } from './question.policy.js';
import type { ResolvedQuestion } from './resolve-question.js';
import type { Seat, TakenTurn } from './turn-taker.js';

/** The position from which the question is readable, and the turn if the same append claimed it for a producer. */
export type Asked = Readonly<{ position: bigint | undefined; taken?: TakenTurn }>;

/** Appends a caller's question. From then on it will be answered, even if the process crashes. */
export class AskQuestion extends Command<Asked> {
  constructor(
    readonly turnId: string,
    readonly conversationId: string,
    readonly question: ResolvedQuestion,
    readonly cause: Cause,
    /** Whether the turn may have been asked before. It may have ended long ago. */
    readonly isRepeated: boolean,
    /** If given, claims the turn for this producer in the same append. */
    readonly by?: Pick<Seat, 'producer' | 'expectTranscript'>,
  ) {
    super();
  }
}

/** The decision for a question. It throws the Rejection with which the conversation refuses the question. */
export function decisionOf({ turnId, conversationId, question: asked, cause }: AskQuestion): ReturnType<typeof ask> {
  const { question, ownerId, agent, index, visibility, history, sharedUsage, settings, checked } = asked;
  const { agentKeyId } = settings;
  const agentId = agent?.id ?? null;
  const turn = { conversationId, turnId, index, question, requestId: cause.correlationId, settings, ...(checked && { checked }) };
  if (!asked.conversationId) {
    const name = nameFor(question);
    return ask(turn, { conversationId, ownerId, agentId, agentKeyId, name, visibility, sharedUsage, history });
  }
  return as(partyOf(asked), ask(turn, null, asked.isNext));
}

/** The party on whose behalf a question continues a conversation, from the settings of the question. */
function partyOf({ agent, ownerId, settings: { agentKeyId } }: ResolvedQuestion): Party {
  const linkId = linkIdIn(agentKeyId ?? '');
  if (linkId !== undefined) return { linkId, ownerId };
  return agent && agentKeyId !== null ? { agentId: agent.id, ownerId } : { userId: ownerId };
}

/** Asks a question and claims its turn in one append. */
const takenBy =
  (turnId: string, producer: string, asking: Decide): Decide =>
  (state) => {
    const asked = asking(state);
    if (asked.length === 0) return asked;
    return [...asked, ...startTurn(turnId, producer)(asked.reduce(conversation.evolve, state))];
  };

type AskedOutcome = Outcome<Conversation, ConversationEvent>;

@CommandHandler(AskQuestion)
export class AskQuestionHandler implements Handler<AskQuestion> {
  constructor(
    private readonly streams: Streams,
    private readonly earlierTurns: EarlierTurns,
  ) {}

  /** @throws Rejection conversation-not-found, index-out-of-range; ReadModelsBehind */
  async execute(command: AskQuestion): Promise<Asked> {
    const { conversationId, turnId, question, cause, by } = command;
    const { streams } = this;
    const stream = conversationStream(conversationId);
    let known = question.conversationId === undefined ? nothingYet(conversation) : undefined;
    if (command.isRepeated) {
      known = await streams.fold(stream, conversation);
      decisionOf(command)(known.state);
      if (await this.earlierTurns.byId(known, turnId)) return { position: known.position };
    }
    const asking = known ? unlessOmitted(turnId, known.state, decisionOf(command)) : decisionOf(command);
    const decide = by ? takenBy(turnId, by.producer, asking) : asking;
    const transcriptOf = (asked: AskedOutcome) => askedTranscript(streams, asked, cause);
    const whileAppending = (asked: AskedOutcome) => by?.expectTranscript(transcriptOf(asked));
    const outcome = await streams.transact(stream, conversation, decide, cause, known, { whileAppending });
    const { state, position, events } = outcome;
    if (events.length > 0) return { position, ...(by && { taken: { transcript: transcriptOf(outcome), claimed: outcome } }) };
    if (state.turns.has(turnId)) return { position };
    return this.execute(new AskQuestion(turnId, conversationId, question, cause, true, by));
  }
}

/**
 * Appends a caller's decisions on the pending calls of a turn. From then on the turn will continue, even if the process crashes.
 */
export class ResumeTurn extends Command<{ position: bigint | undefined }> {
  constructor(
    readonly conversationId: string,
    readonly answers: readonly CallAnswer[],
    readonly noted: Readonly<{ checkUsage?: Usage; firstRequestId?: string }>,
    readonly by: Party,
    readonly cause: Cause,
  ) {
    super();
  }
}

@CommandHandler(ResumeTurn)
export class ResumeTurnHandler implements Handler<ResumeTurn> {
  constructor(
    private readonly streams: Streams,
    private readonly clock: Clock,
  ) {}

  /** @throws Rejection conversation-not-found, tool-call-not-pending, resume-in-progress, invalid-request */
  async execute({ conversationId, answers, noted, by, cause }: ResumeTurn): Promise<{ position: bigint | undefined }> {
    const decide = resume(answers, by, this.clock.now(), noted);
    const { position } = await this.streams.transact(conversationStream(conversationId), conversation, decide, cause);
    return { position };
  }
}
