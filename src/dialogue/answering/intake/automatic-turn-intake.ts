import { Injectable } from '@nestjs/common';
import { conversationCodec } from '../../conversation/conversation.codec.js';
import { conversation } from '../../conversation/conversation.decider.js';
import { type ConversationEvent, conversationStream, type TurnSettings } from '../../conversation/conversation.events.js';
import { EarlierTurns } from '../../conversation/earlier-turns.port.js';
import { AskAutomaticTurn } from '../../conversation/turn.commands.js';
import { statusOf } from '../../conversation/turn.decider.js';
import { type Caller, linkIdIn, type SignedInUser } from '../../../resources/identity/caller.js';
import { decode } from '../../../kernel/event-sourcing/codec.js';
import { EventStore, eventsBackwards } from '../../../kernel/event-sourcing/event-store.js';
import type { Cause } from '../../../kernel/event-sourcing/events.js';
import { Rejection } from '../../../kernel/rejection.js';
import { Commands } from '../../../kernel/commands.js';
import { Streams } from '../../../kernel/event-sourcing/streams.js';
import { WorkQueue } from '../../../kernel/messaging/work-queue.js';
import { type Admission, type LimitedAgent, UsageLimits } from '../../../work/limits/usage-limits.port.js';
import { LanguageModels } from '../../../resources/models/model/language-model.port.js';
import { InputGuard } from './input-guard.js';
import type { WorkflowGraph } from '../../../resources/workflows/workflow-graph.policy.js';
import { limitedAgent } from './ask-question-intake.js';
import { TURNS_QUEUE } from './turns-queue.js';
import type { TurnToRun } from '../../journal/message.events.js';
import type { QuestionRequest } from './question.dto.js';
import { QuestionResolver } from './resolve-question.js';
import { type AutomaticTurnResult, type AutomaticTurn, AutomaticTurns } from './automatic-turns.port.js';

/**
 * Asks automatic turns, with the settings of the last question. In this order: (1) check that the conversation may continue; (2)
 * resolve the settings again; (3) check the owner's quota and the limits of the agent; (4) append the turn, unless the
 * conversation has changed; (5) enqueue the turn. A crash before (4) leaves nothing behind. After a crash that follows (4), the
 * sweep finds the turn.
 */
@Injectable()
export class AutomaticTurnIntake extends AutomaticTurns {
  constructor(
    private readonly store: EventStore,
    private readonly streams: Streams,
    private readonly commands: Commands,
    private readonly resolver: QuestionResolver,
    private readonly models: LanguageModels,
    private readonly limits: UsageLimits,
    private readonly queue: WorkQueue,
    private readonly earlierTurns: EarlierTurns,
    private readonly inputs: InputGuard,
  ) {
    super();
  }

  async isOpen(conversationId: string): Promise<boolean> {
    return (await this.streams.fold(conversationStream(conversationId), conversation)).state.status === 'open';
  }

  async ask(turn: AutomaticTurn, cause: Cause): Promise<AutomaticTurnResult> {
    const { conversationId, ownerId, turnId, origin } = turn;
    const stream = conversationStream(conversationId);
    const known = await this.streams.fold(stream, conversation);
    const status = statusOf(known.state, ownerId, turnId);
    if (status !== 'free') return { status };
    if (await this.earlierTurns.byId(known, turnId)) return { status: 'asked' };
    let admission: Admission | undefined;
    try {
      const { settings, agent } = await this.resolve(turn, cause);
      admission = { turnId, stream, ownerId, agent, isNewRequest: true };
      await this.limits.admit(admission);
      const given = await this.inputs.automaticQuestion(turn.question, settings);
      const asked = { conversationId, turnId, ...given, requestId: cause.correlationId, settings, origin };
      const now = await this.commands.execute(new AskAutomaticTurn(asked, ownerId, cause, known));
      if (now !== 'free') {
        this.limits.withdraw(admission);
        return { status: now };
      }
    } catch (error) {
      if (admission) this.limits.withdraw(admission);
      if (!(error instanceof Rejection)) throw error;
      // Another process may have asked the turn meanwhile. The turn itself may be what reached a limit.
      const present = await this.streams.fold(stream, conversation, known);
      const isAsked = (await this.earlierTurns.byId(present, turnId)) !== undefined;
      return isAsked ? { status: 'asked' } : { status: 'refused', error: error.message };
    }
    // Not awaited: the sweep finds a turn that the queue does not have.
    this.queue
      .enqueue(TURNS_QUEUE, turnId, JSON.stringify({ conversationId, turnId } satisfies TurnToRun))
      .catch(() => undefined);
    return { status: 'asked' };
  }

  /** @throws Rejection if the conversation cannot continue with its settings, for example because its agent was deleted */
  private async resolve({ conversationId, ownerId, question }: AutomaticTurn, cause: Cause): Promise<Resolved> {
    const owner: SignedInUser = { kind: 'user', userId: ownerId, roles: ['user'], credential: 'session-token', cause };
    const last = await this.lastSettings(conversationId);
    const own = last?.agentId ? { agent_id: last.agentId } : last && (await this.ownOf(last, owner));
    const request = { question, conversation_id: conversationId, passthrough: { ...last?.passthrough }, ...own };
    const caller = (last && bearerIn(last, owner)) ?? owner;
    const { settings, agent } = await this.resolver.resolve(request, caller);
    return { settings, agent: agent && limitedAgent(agent) };
  }

  /** The settings of a question without an agent. A model or prompt that does not exist any more is left out. */
  private async ownOf({ modelId, promptId, workflow, ...settings }: TurnSettings, owner: SignedInUser): Promise<QuestionRequest> {
    const { sources, chunks, retriever } = settings;
    return {
      ...((await this.models.has(modelId, owner.userId)) && { model_id: modelId }),
      ...((await this.resolver.hasPrompt(promptId, owner)) && { prompt_id: promptId }),
      active_docs: sources.map(({ id }) => id),
      chunks,
      retriever,
      ...(workflow && 'draft' in workflow && 'inline' in workflow.draft && draftAgain(workflow.draft.inline, workflow.id)),
    };
  }

  private async lastSettings(conversationId: string): Promise<TurnSettings | undefined> {
    for await (const stored of eventsBackwards(this.store, conversationStream(conversationId))) {
      const event = decode<ConversationEvent>(conversationCodec, stored);
      if (event?.type === 'TurnAsked') return event.data.settings;
    }
    return undefined;
  }
}

/** Repeats the draft of a workflow that the last question was asked with. */
const draftAgain = ({ nodes, edges }: WorkflowGraph, id: string | null): Pick<QuestionRequest, 'workflow' | 'workflow_id'> => ({
  workflow: { nodes, edges },
  workflow_id: id,
});

/** The settings of a turn, and the agent whose limits apply. */
type Resolved = Readonly<{ settings: TurnSettings; agent: LimitedAgent | undefined }>;

/**
 * The caller for a conversation that was begun with an agent's key. It has the rights of the key, and the owner's only if the
 * owner used the key.
 */
function bearerIn({ agentId, agentKeyId: keyId, writeAllowlist }: TurnSettings, owner: SignedInUser): Caller | undefined {
  if (agentId === null || keyId === null || linkIdIn(keyId) !== undefined) return undefined;
  const signedIn = writeAllowlist === null ? owner : undefined;
  return { kind: 'agent-key', agentId, keyId, ownerId: owner.userId, signedIn, cause: owner.cause };
}
