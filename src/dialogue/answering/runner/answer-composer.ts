import { Injectable } from '@nestjs/common';
import type { Frame } from '../../journal/message.events.js';
import { AnswerGuards } from '../guardrails/answer-guards.js';
import { AgentAnswers } from '../loop/agent-answers.js';
import type { Run } from '../loop/agent-loop.js';
import type { AnswerDelta } from '../loop/answer-delta.js';
import { withoutNoReply } from '../loop/no-reply.js';
import { ResearchAnswers } from '../research/research-answers.js';
import type { Transcript } from '../loop/transcript.js';

/** Answers as the agent's type says. */
@Injectable()
export class AnswerComposer {
  constructor(
    private readonly agents: AgentAnswers,
    private readonly research: ResearchAnswers,
    private readonly guards: AnswerGuards,
  ) {}

  /** An automatic turn may have no answer, unless its form is fixed or the answer has begun. */
  compose(transcript: Transcript, run: Run): AsyncGenerator<AnswerDelta> {
    const { asked, resumption } = transcript;
    const mayBeNone = asked.origin?.kind === 'follow-up' && !asked.settings.responseSchema && !resumption?.paused.answer;
    const deltas = this.guards.guarded(transcript, run, (asked, guarded) =>
      isResearch(asked) ? this.research.deltas(asked, guarded) : this.agents.deltas(asked, guarded),
    );
    return mayBeNone ? withoutNoReply(deltas) : deltas;
  }

  /**
   * Whether a run that was cut off after these frames can be gone on with. It can where the program has recorded what it has done,
   * and what was shown is no text of a step that it would do again.
   */
  canContinue(transcript: Transcript, shown: readonly Frame[]): Promise<boolean> {
    return Promise.resolve(isResearch(transcript) && this.research.canContinue(shown));
  }
}

const isResearch = ({ asked }: Transcript): boolean => asked.settings.agentType === 'research';
