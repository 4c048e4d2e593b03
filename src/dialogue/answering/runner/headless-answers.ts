import { Injectable } from '@nestjs/common';
import { belongsTo } from '../../conversation/conversation-access.policy.js';
import { conversation } from '../../conversation/conversation.decider.js';
import { type CalledTool, conversationStream, type TurnSettings } from '../../conversation/conversation.events.js';
import { RETRACTED } from '../../journal/message.policy.js';
import { OUTCOME_UNKNOWN_TEXT, outcomeUnknown } from '../../conversation/tool-call.policy.js';
import type { SignedInUser } from '../../../resources/identity/caller.js';
import { Streams } from '../../../kernel/event-sourcing/streams.js';
import type { Cause } from '../../../kernel/event-sourcing/events.js';
import { ModelFailed } from '../../../resources/models/model/language-model.port.js';
import type { Run } from '../loop/agent-loop.js';
import { AnswerFailed } from '../loop/answer-failed.js';
import { AnswerComposer } from './answer-composer.js';
import { AnswerWriter, type UserError, userError, userErrorOf } from './answer-writer.js';
import { GuardrailBlock } from '../loop/guardrail-block.js';
import { headless } from '../loop/execution-mode.policy.js';
import { type CallEnd, finishedAs } from '../loop/call-ends.policy.js';
import { QuestionResolver } from '../intake/resolve-question.js';
import type { CallLedger } from '../loop/tool-round.js';
import { type Exchanges, PastExchanges } from '../loop/past-exchanges.js';
import type { Transcript } from '../loop/transcript.js';
import {
  type RecordedEffect,
  type EffectLedger,
  type HistoryPin,
  HeadlessAnswering,
  type HeadlessAnswer,
  type HeadlessWork,
} from './headless-answering.port.js';

/** A journal without readers. */
const NO_JOURNAL = { write: () => undefined, room: () => Promise.resolve(), flush: () => Promise.resolve() };

/** Composes answers as for a turn of a conversation, but without a conversation. */
@Injectable()
export class HeadlessAnswers extends HeadlessAnswering {
  constructor(
    private readonly resolver: QuestionResolver,
    private readonly composer: AnswerComposer,
    private readonly streams: Streams,
  ) {
    super();
  }

  /** Resolves the settings as if the owner asked, because the agent may do what its owner may. */
  async resolveSettings(agentId: string | null, ownerId: string, cause: Cause, modelId?: string | null): Promise<TurnSettings> {
    const owner: SignedInUser = { kind: 'user', userId: ownerId, roles: ['user'], credential: 'session-token', cause };
    const anything = {
      question: 'anything',
      ...(agentId !== null && { agent_id: agentId }),
      ...(modelId && { model_id: modelId }),
    };
    return (await this.resolver.resolve(anything, owner)).settings;
  }

  async historyOf(conversationId: string, ownerId: string): Promise<HistoryPin | undefined> {
    const { state, revision } = await this.streams.fold(conversationStream(conversationId), conversation);
    return belongsTo(state, { userId: ownerId }) && revision !== 'none' ? { conversationId, revision } : undefined;
  }

  async answer(work: HeadlessWork): Promise<HeadlessAnswer> {
    const { settings, signal } = work;
    const structured = settings.responseSchema !== null;
    const parts = { answer: '', thought: '', sources: [], toolCalls: [], structured };
    const writer = new AnswerWriter(NO_JOURNAL, settings.responseSchema, { parts, usage: null });
    const records = () => writer.progress.parts.toolCalls;
    const run: Run = {
      signal,
      ledger: ledgerOf(work.ledger, work.runId),
      executionMode: headless(work.toolAllowlist),
      fencingToken: work.attempt,
      records,
      shown: [],
    };
    try {
      const error = await writer
        .write(this.composer.compose(transcriptOf(work, this.exchangesOf(work.history)), run), signal)
        .catch(modelErrorOf);
      signal.throwIfAborted();
      writer.interruptCalls({ started: new Map(), finished: new Map() });
      const { parts: written } = writer.progress;
      return {
        parts: error?.guardrail ? { ...written, ...RETRACTED } : written,
        error: error ? { text: error.text, code: error.code } : null,
      };
    } finally {
      work.used(writer.progress.usage);
    }
  }

  private exchangesOf(pin: HistoryPin | undefined): Exchanges {
    if (!pin) return async () => [];
    const past = new PastExchanges(this.streams.store, conversationStream(pin.conversationId));
    return (charactersMax) => past.before(pin.revision + 1, charactersMax);
  }
}

/**
 * The error of a model or node that failed or that a guardrail stopped. Such an error is part of the answer.
 * @throws any other error
 */
function modelErrorOf(thrown: unknown): UserError {
  if (thrown instanceof GuardrailBlock) return userErrorOf(thrown);
  if (thrown instanceof AnswerFailed) return userError(thrown.message, thrown.code);
  if (thrown instanceof ModelFailed) return userError(thrown.message, thrown.failure);
  throw thrown;
}

const transcriptOf = (
  { runId, ownerId, input, settings, checked, cause, callIdsTaken, history }: HeadlessWork,
  exchanges: Exchanges,
): Transcript => ({
  ownerId,
  asked: {
    conversationId: runId,
    turnId: runId,
    index: 0,
    question: input,
    requestId: cause.correlationId,
    settings,
    ...(checked && { checked }),
  },
  cause,
  beginsConversation: true,
  folded: undefined,
  exchanges,
  resumption: null,
  calls: { started: new Map(), finished: new Map() },
  waited: callIdsTaken,
  history: history ?? null,
});

const ledgerOf = (ledger: EffectLedger, runId: string): CallLedger => ({
  begin: async (call) => {
    const known = await ledger.begin(call);
    return known && endOf(call, known, runId);
  },
  finish: ledger.finish,
});

function endOf(call: CalledTool, { end }: RecordedEffect, runId: string): CallEnd {
  if (!end) return { record: outcomeUnknown(call), text: OUTCOME_UNKNOWN_TEXT };
  return finishedAs(call, { conversationId: runId, turnId: runId, callId: call.callId, ...end });
}
