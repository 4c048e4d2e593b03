import { Injectable } from '@nestjs/common';
import type { Frame } from '../../journal/message.events.js';
import { AnswerGuards } from '../guardrails/answer-guards.js';
import { AgentAnswers } from '../loop/agent-answers.js';
import type { Run } from '../loop/agent-loop.js';
import type { AnswerDelta } from '../loop/answer-delta.js';
import { withoutNoReply } from '../loop/no-reply.js';
import type { Transcript } from '../loop/transcript.js';
import { ResearchAnswers } from '../research/research-answers.js';
import { WorkflowAnswers } from '../workflow-runs/workflow-answers.js';

/** Answers as the agent's type says, guarded by the policy that is pinned for the turn. */
@Injectable()
export class AnswerComposer {
  constructor(
    private readonly agents: AgentAnswers,
    private readonly research: ResearchAnswers,
    private readonly workflows: WorkflowAnswers,
    private readonly guards: AnswerGuards,
  ) {}

  /** An automatic turn may have no answer, unless its form is fixed or the answer has begun. */
  compose(transcript: Transcript, run: Run): AsyncGenerator<AnswerDelta> {
    const { asked, resumption } = transcript;
    const mayBeNone = asked.origin?.kind === 'follow-up' && !asked.settings.responseSchema && !resumption?.paused.answer;
    const deltas = this.guards.guarded(transcript, run, (checked, guarded) => this.programOf(checked).deltas(checked, guarded));
    return mayBeNone ? withoutNoReply(deltas) : deltas;
  }

  /**
   * Whether the answer to a question is composed by asking a model, until it calls tools: it records nothing of what it does, and
   * nothing is checked on the way.
   */
  onlyAsksModels(transcript: Transcript): boolean {
    const { asked, resumption } = transcript;
    const { guardrails } = asked.settings;
    return !guardrails && !asked.checked && resumption === null && this.programOf(transcript) === this.agents;
  }

  /**
   * Whether a run that was cut off after these frames can be gone on with. It can where the program has recorded what it has done,
   * and what was shown is no text of a step that it would do again.
   */
  async canContinue(transcript: Transcript, shown: readonly Frame[]): Promise<boolean> {
    const program = this.programOf(transcript);
    return 'canContinue' in program && program.canContinue(transcript, shown);
  }

  private programOf({ asked }: Transcript): AgentAnswers | ResearchAnswers | WorkflowAnswers {
    switch (asked.settings.agentType) {
      case 'research':
        return this.research;
      case 'workflow':
        return this.workflows;
      default:
        return this.agents;
    }
  }
}
