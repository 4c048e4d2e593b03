import { Injectable } from '@nestjs/common';
import type { Dialect, Usage } from '../../dialogue/conversation/conversation.events.js';
import { Answers, type StartedAnswer } from '../../dialogue/answering/intake/answers.port.js';
import { Rejection } from '../../kernel/rejection.js';
import type { AgentKeyCaller } from '../../resources/identity/caller.js';
import { AskedQuestions, denialOf } from './asking/asked-questions.js';
import { refused } from './asking/refusals.policy.js';
import type { ChatRequest } from './chat-request.policy.js';
import { type Completion, type Head, noCompletion, withNextFrame } from './completion.policy.js';

/** A completion after one more frame, and the additions of that frame. */
export type ChatStep = Readonly<{
  completion: Completion;
  additions: ReturnType<typeof withNextFrame>['additions'];
  lastId: number;
}>;

/** Codes of rejections which mean that another request has resumed the turn, so its calls are decided there. */
const DECIDED: ReadonlySet<string> = new Set(['tool-call-not-pending', 'resume-in-progress']);
const DIALECT: Dialect = { name: 'openai-chat', translator: 1 };

/** Asks an agent for a client of OpenAI's API and reads the answer. */
@Injectable()
export class ChatAnswers {
  constructor(
    private readonly answers: Answers,
    private readonly asked: AskedQuestions,
  ) {}

  /** @throws Rejection if the request is not accepted. In that case no turn was started. */
  async begin(
    request: ChatRequest,
    caller: AgentKeyCaller,
    named: string | undefined,
    key: string | undefined,
  ): Promise<StartedAnswer> {
    const { said, stream, body } = request;
    const way = { route: stream ? 'stream' : 'answer', key, dialect: DIALECT, body } as const;
    if (said.kind === 'results') {
      if (named !== undefined && named !== said.conversationId)
        throw refused('messages', 'have results for calls of another conversation than the one that is named.');
      return this.asked.resume(said, caller, way);
    }
    return this.asked.ask({ ...request, said }, caller, named ?? said.conversationId, way);
  }

  /** The fields that all chunks of this answer share. */
  async headOf(started: StartedAnswer, { agentId }: AgentKeyCaller): Promise<Head> {
    const { conversationId, turnId, after } = started;
    const at = await this.answers.journaledAt(started, after);
    const id = `chatcmpl-${turnId}${after < 0 ? '' : `-${after + 1}`}`;
    return { conversationId, id, created: Math.floor(at.getTime() / 1_000), model: agentId };
  }

  /**
   * The answer, frame by frame, until it ends or waits for the caller's code. All tool calls that need an approval are denied.
   */
  async *read(started: StartedAnswer, caller: AgentKeyCaller, signal: AbortSignal): AsyncGenerator<ChatStep> {
    let completion = noCompletion;
    let lastId = started.after;
    do {
      if (completion.ending?.kind === 'denied') await this.deny(completion.ending.callIds, started, caller);
      completion = { ...completion, ending: null };
      for await (const { id, frame } of this.answers.frames(started, lastId, caller, signal)) {
        const next = withNextFrame(completion, frame, started.conversationId);
        ({ completion, lastId } = { completion: next.completion, lastId: id });
        yield { completion, additions: next.additions, lastId };
        if (completion.ending) break;
      }
    } while (completion.ending?.kind === 'denied' && !signal.aborted);
  }

  usage(started: StartedAnswer, lastId: number): Promise<Usage | undefined> {
    return this.answers.usage(started, started.after, lastId);
  }

  private async deny(callIds: readonly string[], { conversationId }: StartedAnswer, caller: AgentKeyCaller): Promise<void> {
    const denials = callIds.map(denialOf);
    const resumed = this.answers.begin({ conversation_id: conversationId, tool_actions: denials }, caller, { route: 'stream' });
    await resumed.catch((error: unknown) => {
      if (!(error instanceof Rejection && DECIDED.has(error.code))) throw error;
    });
  }
}
