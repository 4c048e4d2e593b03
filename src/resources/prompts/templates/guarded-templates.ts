import { TemplateEngine, TemplateFailed } from './template-engine.port.js';
import { GuardedProcess, GuardedProcessFailed } from '../../../platform/sandbox/guarded-process.js';
import { TEMPLATE_LIMITS, type TemplateLimits } from './template-limits.js';
import { needsTooMuchMemory, tooManyTemplates } from './template-failures.js';
import type { TemplateAnswer, TemplateQuestion } from './templates-program.js';

const ENTRY = new URL('./templates-program.js', import.meta.url);

/**
 * Renders templates in the threads of a child process, because V8 aborts the whole process when a thread allocates memory too
 * fast for its limit to stop it.
 */
export class GuardedTemplates extends TemplateEngine {
  private readonly process: GuardedProcess<TemplateQuestion, TemplateAnswer>;
  private readonly limits: TemplateLimits;

  constructor(limits: Partial<TemplateLimits> = {}) {
    super();
    this.limits = { ...TEMPLATE_LIMITS, ...limits };
    this.process = new GuardedProcess({ program: { entry: ENTRY, options: this.limits } });
  }

  render(template: string, context: object): Promise<string> {
    return this.ask({ template, context });
  }

  async check(template: string): Promise<void> {
    await this.ask({ template, context: null });
  }

  private async ask(question: TemplateQuestion): Promise<string> {
    if (this.process.waiting >= this.limits.waitingMax) throw tooManyTemplates();
    const answer = await this.process.ask(question).catch((error: unknown) => {
      throw error instanceof GuardedProcessFailed && error.failure === 'died' ? needsTooMuchMemory() : error;
    });
    if ('text' in answer) return answer.text;
    throw new TemplateFailed(answer.failure, answer.message);
  }

  close(): Promise<void> {
    return this.process.close();
  }
}
