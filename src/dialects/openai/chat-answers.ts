import { Injectable } from '@nestjs/common';
import type { Usage } from '../../dialogue/conversation/conversation.events.js';
import { Answers, type BegunAnswer } from '../../dialogue/answering/intake/answers.port.js';
import { Rejection } from '../../kernel/rejection.js';
import type { AgentKeyCaller } from '../../resources/identity/caller.js';
import { type CallResult, refused } from './messages.policy.js';
import type { ChatRequest } from './chat-request.policy.js';
import { type Completion, type Head, noCompletion, withNextFrame } from './completion.policy.js';

/** A completion after one frame more, and what that frame added. */
export type ChatStep = Readonly<{
  completion: Completion;
  additions: ReturnType<typeof withNextFrame>['additions'];
  lastId: number;
}>;

/** Decisions on calls have been taken meanwhile, or will be: somebody else resumed the turn. */
const DECIDED: ReadonlySet<string> = new Set(['tool-call-not-pending', 'resume-in-progress']);
const NOBODY_APPROVES = 'Nobody can approve calls over this interface.';

/** Asks an agent what a client of OpenAI's API asks, and reads its answer. */
@Injectable()
export class ChatAnswers {
  constructor(private readonly answers: Answers) {}

  /** @throws Rejection for whatever is wrong with the request; then nothing was written */
  async begin(request: ChatRequest, caller: AgentKeyCaller, named: string | undefined, key?: string): Promise<BegunAnswer> {
    const { said, tools, modelId, stream } = request;
    const route = stream ? 'stream' : 'answer';
    if (said.kind === 'results') {
      if (named !== undefined && named !== said.conversationId)
        throw refused('messages', 'have results for calls of another conversation than the one that is named.');
      const actions = await this.actionsFor(said.results, said.conversationId, caller);
      const resumed = { conversation_id: said.conversationId, tool_actions: actions };
      return this.answers.begin(resumed, caller, route, key);
    }
    const conversationId = named ?? said.conversationId;
    const asked = {
      question: said.question,
      ...(conversationId === undefined ? { history: said.history } : { conversation_id: conversationId }),
      ...(modelId && { model_id: modelId }),
      ...(tools.length > 0 && { client_tools: tools }),
    };
    return this.answers.begin(asked, caller, route, key);
  }

  /** What is the same in all that is said of this answer. */
  async headOf({ conversationId, turnId, after, ...rest }: BegunAnswer, { agentId }: AgentKeyCaller): Promise<Head> {
    const at = await this.answers.journaledAt({ conversationId, turnId, after, ...rest }, after);
    const id = `chatcmpl-${turnId}${after < 0 ? '' : `-${after + 1}`}`;
    return { conversationId, id, created: Math.floor(at.getTime() / 1_000), model: agentId };
  }

  /** The answer, frame by frame, until it ends or waits for the caller's code. Approvals that it waits for on the way are denied. */
  async *read(begun: BegunAnswer, caller: AgentKeyCaller, signal: AbortSignal): AsyncGenerator<ChatStep> {
    let completion = noCompletion;
    let lastId = begun.after;
    do {
      if (completion.ending?.kind === 'denied') await this.deny(completion.ending.callIds, begun, caller);
      completion = { ...completion, ending: null };
      for await (const { id, frame } of this.answers.frames(begun, lastId, caller, signal)) {
        const next = withNextFrame(completion, frame, begun.conversationId);
        ({ completion, lastId } = { completion: next.completion, lastId: id });
        yield { completion, additions: next.additions, lastId };
        if (completion.ending) break;
      }
    } while (completion.ending?.kind === 'denied' && !signal.aborted);
  }

  usage(begun: BegunAnswer, lastId: number): Promise<Usage | undefined> {
    return this.answers.usage(begun, begun.after, lastId);
  }

  private async deny(callIds: readonly string[], { conversationId }: BegunAnswer, caller: AgentKeyCaller): Promise<void> {
    const denials = callIds.map(denialOf);
    const resumed = this.answers.begin({ conversation_id: conversationId, tool_actions: denials }, caller, 'stream');
    await resumed.catch((error: unknown) => {
      if (!(error instanceof Rejection && DECIDED.has(error.code))) throw error;
    });
  }

  /** What a message says of a call that waits for an approval is no decision: the call is denied. */
  private async actionsFor(results: readonly CallResult[], conversationId: string, caller: AgentKeyCaller): Promise<unknown[]> {
    const waited = await this.answers.waited(conversationId, caller);
    return results.map(({ callId, text }) =>
      waited.get(callId) === 'awaiting_approval' ? denialOf(callId) : { call_id: callId, result: text },
    );
  }
}

const denialOf = (callId: string) => ({ call_id: callId, decision: 'denied', comment: NOBODY_APPROVES });
