import { Injectable } from '@nestjs/common';
import type { Dialect, Exchange } from '../../../dialogue/conversation/conversation.events.js';
import { Answers, type StartedAnswer, type WayElsewhere } from '../../../dialogue/answering/intake/answers.port.js';
import type { AgentKeyCaller } from '../../../resources/identity/caller.js';
import { AttachedUploads } from './attached-uploads.js';
import type { Said } from './messages.policy.js';

type Fields = Readonly<Record<string, unknown>>;

/** A question with its options. */
export type Question = Readonly<{
  said: Extract<Said, { kind: 'question' }>;
  instructions: string;
  modelId: string | undefined;
  tools: readonly Fields[];
  schema: Fields | undefined;
  sampling: Fields;
}>;

/**
 * `body`: the body of the request. A repetition with the same idempotency key must have the same body. `nextIndex`: see
 * WayElsewhere.
 */
export type Way = Readonly<{
  route: WayElsewhere['route'];
  key: string | undefined;
  dialect: Dialect;
  body: object;
  nextIndex?: number;
}>;

const NOBODY_APPROVES = 'Nobody can approve calls over this interface.';

export const denialOf = (callId: string) => ({ call_id: callId, decision: 'denied', comment: NOBODY_APPROVES });

/** Passes questions and results of calls from this dialect to the agent. */
@Injectable()
export class AskedQuestions {
  constructor(
    private readonly answers: Answers,
    private readonly uploads: AttachedUploads,
  ) {}

  /** `from`: the conversation to continue, or the earlier exchanges for a new one. @throws Rejection */
  async ask(
    { said, instructions, modelId, tools, schema, sampling }: Question,
    caller: AgentKeyCaller,
    from: string | readonly Exchange[] | undefined,
    way: Way,
  ): Promise<StartedAnswer & Readonly<{ attachmentIds: readonly string[] }>> {
    const attachmentIds = await this.uploads.idsOf(said.attached, caller);
    const asked = {
      question: said.question,
      ...(typeof from === 'string' ? { conversation_id: from } : { history: from ?? said.history }),
      ...(modelId && { model_id: modelId }),
      ...(tools.length > 0 && { client_tools: [...tools] }),
      ...(attachmentIds.length > 0 && { attachments: [...attachmentIds] }),
      ...(instructions !== '' && { system_prompt_override: instructions }),
      ...(schema && { json_schema: schema }),
      ...(Object.keys(sampling).length > 0 && { llm_params: sampling }),
    };
    return { ...(await this.answers.begin(asked, caller, wayOf(way))), attachmentIds };
  }

  /**
   * Denies a call that waits for an approval, because the result that the caller sent for it is not a decision. @throws Rejection
   */
  async resume(
    { conversationId, results }: Extract<Said, { kind: 'results' }>,
    caller: AgentKeyCaller,
    way: Way,
  ): Promise<StartedAnswer> {
    const waited = await this.answers.waited(conversationId, caller);
    const actions = results.map(({ callId, text }) =>
      waited.get(callId) === 'awaiting_approval' ? denialOf(callId) : { call_id: callId, result: text },
    );
    return this.answers.begin({ conversation_id: conversationId, tool_actions: actions }, caller, wayOf(way));
  }
}

const wayOf = ({ key: idempotencyKey, body: repeatedAs, ...rest }: Way): WayElsewhere => ({
  ...rest,
  idempotencyKey,
  repeatedAs,
});
