import type { Timing } from '../../../kernel/timing.js';
import { RESEARCH_MS_MAX, RESEARCH_TOKENS_MAX } from './research-plan.policy.js';
import type { ResearchUse } from './research.events.js';

/** The time and tokens of a research, including those that earlier runs of it used in any process. */
export class ResearchBudget {
  private readonly startedMs: number;
  private promptTokens: number;
  private completionTokens: number;

  constructor(
    private readonly timing: Timing,
    private readonly before: ResearchUse,
  ) {
    this.startedMs = timing.elapsedMs();
    ({ promptTokens: this.promptTokens, completionTokens: this.completionTokens } = before);
  }

  add({ promptTokens, completionTokens }: Omit<ResearchUse, 'elapsedMs'>): void {
    this.promptTokens += promptTokens;
    this.completionTokens += completionTokens;
  }

  get used(): ResearchUse {
    const elapsedMs = this.before.elapsedMs + Math.round(this.timing.elapsedMs() - this.startedMs);
    return { elapsedMs, promptTokens: this.promptTokens, completionTokens: this.completionTokens };
  }

  get tokens(): number {
    return this.promptTokens + this.completionTokens;
  }

  /** Whether another step, or another round of a step, may begin. */
  get isLeft(): boolean {
    return this.used.elapsedMs < RESEARCH_MS_MAX && this.tokens < RESEARCH_TOKENS_MAX;
  }
}
