import { Injectable } from '@nestjs/common';
import { Answers } from '../../dialogue/answering/intake/answers.port.js';
import type { Dialect } from '../../dialogue/conversation/conversation.events.js';
import { noMessage, withFrame } from '../../dialogue/journal/message.policy.js';
import { Rejection } from '../../kernel/rejection.js';
import type { AgentKeyCaller } from '../../resources/identity/caller.js';

export type AskedAgent = Readonly<{ question: string; conversation_id?: string }>;

export type AgentAnswer = Readonly<{
  answer: string;
  conversation_id: string;
  sources: readonly Readonly<{ text: string; title: string; source: string }>[];
}>;

const DIALECT: Dialect = { name: 'mcp', translator: 1 };

/** Asks an agent for the holder of its key and waits for the whole answer. Nobody can approve tool calls in this dialect. */
@Injectable()
export class AgentAnswers {
  constructor(private readonly answers: Answers) {}

  /** Calls `report` with the id of each frame. If `signal` aborts, the answer is still written to its end. @throws Rejection */
  async ask(
    asked: AskedAgent,
    caller: AgentKeyCaller,
    signal: AbortSignal,
    report: (frameId: number) => void,
  ): Promise<AgentAnswer> {
    const started = await this.answers.begin(asked, caller, { route: 'answer', dialect: DIALECT });
    let message = noMessage;
    for await (const { id, frame } of this.answers.frames(started, started.after, caller, signal)) {
      message = withFrame(message, frame);
      report(id);
    }
    if (message.error) throw new Rejection('answer-failed', message.error.text);
    if (message.last !== 'end') throw new Rejection('answer-failed', 'The answer broke off.');
    const sources = message.parts.sources.map(({ text, title, source }) => ({ text, title, source }));
    return { answer: message.parts.answer, conversation_id: started.conversationId, sources };
  }
}
