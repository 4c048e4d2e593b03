import { createRequire } from 'node:module';
import type * as WorkerThreads from 'node:worker_threads';
import type * as Jinja from '@huggingface/jinja';
import { BoundedThreads, ThreadFailed } from '../../../platform/sandbox/bounded-threads.js';
import { TemplateEngine, TemplateFailed } from './template-engine.port.js';
import { needsTooMuchMemory, tooManyTemplates } from './template-failures.js';
import type { TemplateLimits } from './template-limits.js';
import { cutText } from '../../../kernel/cut-text.js';

const ERROR_CHARACTERS_MAX = 300;
const TOO_LARGE = 'too large';

/** If `context` is null, the template is only parsed. */
type Question = Readonly<{ template: string; context: object | null }>;

type Answer = Readonly<{ text: string } | { error: string }>;

/** Renders users' Jinja templates in threads that can be stopped, because templates can loop endlessly or fill the memory. */
export class TemplateThreads extends TemplateEngine {
  private readonly threads: BoundedThreads<Question, Answer>;

  constructor(private readonly limits: TemplateLimits) {
    super();
    const engine = createRequire(import.meta.url).resolve('@huggingface/jinja');
    const { outputCharactersMax } = limits;
    this.threads = new BoundedThreads(renderOnRequest, { engine, outputCharactersMax, tooLarge: TOO_LARGE }, limits);
  }

  render(template: string, context: object): Promise<string> {
    return this.ask({ template, context });
  }

  async check(template: string): Promise<void> {
    await this.ask({ template, context: null });
  }

  private async ask(question: Question): Promise<string> {
    const answer = await this.threads.run(question).catch((error: unknown) => {
      throw error instanceof ThreadFailed ? this.failureOf(error) : error;
    });
    if ('text' in answer) return answer.text;
    const { outputCharactersMax } = this.limits;
    if (answer.error === TOO_LARGE) {
      throw new TemplateFailed('too-large', `The prompt template wrote more than ${outputCharactersMax} characters.`);
    }
    throw new TemplateFailed('invalid', `The prompt template is not valid: ${cutText(answer.error, ERROR_CHARACTERS_MAX)}`);
  }

  private failureOf({ failure }: ThreadFailed): TemplateFailed {
    if (failure === 'busy') return tooManyTemplates();
    if (failure === 'died') return needsTooMuchMemory();
    return new TemplateFailed('out-of-time', `The prompt template took longer than ${this.limits.deadlineMs} ms.`);
  }
}

function renderOnRequest(load: NodeJS.Require): void {
  const threads = load('node:worker_threads') as typeof WorkerThreads;
  const parent = threads.parentPort!;
  const { engine, outputCharactersMax, tooLarge } = threads.workerData as {
    engine: string;
    outputCharactersMax: number;
    tooLarge: string;
  };
  const { Template } = load(engine) as typeof Jinja;
  parent.postMessage('ready');
  parent.on('message', ({ template, context }: { template: string; context: Record<string, unknown> | null }) => {
    try {
      const read = new Template(template);
      const text = context ? read.render(context) : '';
      parent.postMessage(text.length > outputCharactersMax ? { error: tooLarge } : { text });
    } catch (error) {
      parent.postMessage({ error: error instanceof Error ? error.message : String(error) });
    }
  });
}
