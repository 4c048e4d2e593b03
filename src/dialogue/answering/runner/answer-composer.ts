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

/** Composes answers by the program of the agent's type, guarded by the policy that is pinned for the turn. */
@Injectable()
export class AnswerComposer {
  constructor(
    private readonly agents: AgentAnswers,
    private readonly research: ResearchAnswers,
    private readonly workflows: WorkflowAnswers,
    private readonly guards: AnswerGuards,
  ) {}

  /** An automatic turn may have no answer, unless it has a response schema or the answer has begun. */
  compose(transcript: Transcript, run: Run): AsyncGenerator<AnswerDelta> {
    const { asked, resumption } = transcript;
    const mayBeNone = asked.origin?.kind === 'follow-up' && !asked.settings.responseSchema && !resumption?.paused.answer;
    const deltas = this.guards.guarded(transcript, run, (checked, guarded) => this.programOf(checked).deltas(checked, guarded));
    return mayBeNone ? withoutNoReply(deltas) : deltas;
  }

  /**
   * Whether composing the answer only calls a model until the first tool call: the program records no steps and no guardrail
   * checks the answer.
   */
  onlyAsksModels(transcript: Transcript): boolean {
    const { asked, resumption } = transcript;
    const { guardrails } = asked.settings;
    return !guardrails && !asked.checked && resumption === null && this.programOf(transcript) === this.agents;
  }

  /**
   * Whether a run that was interrupted after these frames can continue. It can if the program records its steps and the frames
   * show no text of a step that it would repeat.
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
