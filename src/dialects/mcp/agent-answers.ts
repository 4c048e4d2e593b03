import { Injectable } from '@nestjs/common';
import { Answers } from '../../dialogue/answering/intake/answers.port.js';
import { type Message, noMessage, withFrame } from '../../dialogue/journal/message.policy.js';
import { Rejection } from '../../kernel/rejection.js';
import type { AgentKeyCaller } from '../../resources/identity/caller.js';

export type AskedAgent = Readonly<{ question: string; conversation_id?: string }>;

export type AgentAnswer = Readonly<{
  answer: string;
  conversation_id: string;
  sources: readonly Readonly<{ text: string; title: string; source: string }>[];
}>;

/** Codes of rejections which mean that another request has resumed the turn, so its calls are decided there. */
const DECIDED: ReadonlySet<string> = new Set(['tool-call-not-pending', 'resume-in-progress']);
const NOBODY_APPROVES = 'Nobody can approve calls over this interface.';

/** Asks an agent for the holder of its key and waits for the whole answer. It denies all tool calls that need an approval. */
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
    const started = await this.answers.begin(asked, caller, { route: 'answer' });
    let [message, lastId] = [noMessage, started.after];
    do {
      if (message.pending.length > 0) await this.deny(message, started.conversationId, caller);
      for await (const { id, frame } of this.answers.frames(started, lastId, caller, signal)) {
        [message, lastId] = [withFrame(message, frame), id];
        report(id);
      }
    } while (message.pending.length > 0 && !signal.aborted);
    if (message.error) throw new Rejection('answer-failed', message.error.text);
    if (message.last !== 'end') throw new Rejection('answer-failed', 'The answer broke off.');
    const sources = message.parts.sources.map(({ text, title, source }) => ({ text, title, source }));
    return { answer: message.parts.answer, conversation_id: started.conversationId, sources };
  }

  private async deny({ pending }: Message, conversationId: string, caller: AgentKeyCaller): Promise<void> {
    const denials = pending.map(({ call_id }) => ({ call_id, decision: 'denied', comment: NOBODY_APPROVES }));
    const resumed = this.answers.begin({ conversation_id: conversationId, tool_actions: denials }, caller, { route: 'answer' });
    await resumed.catch((error: unknown) => {
      if (!(error instanceof Rejection && DECIDED.has(error.code))) throw error;
    });
  }
}
