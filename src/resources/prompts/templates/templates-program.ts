import { TemplateFailed, type TemplateFailure } from './template-engine.port.js';
import { answerQuestions } from '../../../platform/sandbox/answer-questions.js';
import type { TemplateLimits } from './template-limits.js';
import { TemplateThreads } from './template-threads.js';

/** If `context` is null, the template is only parsed. */
export type TemplateQuestion = Readonly<{ template: string; context: object | null }>;
export type TemplateAnswer = Readonly<{ text: string } | { failure: TemplateFailure; message: string }>;

const threads = new TemplateThreads(JSON.parse(process.argv[2]!) as TemplateLimits);

answerQuestions(async ({ template, context }: TemplateQuestion): Promise<TemplateAnswer> => {
  try {
    if (context) return { text: await threads.render(template, context) };
    await threads.check(template);
    return { text: '' };
  } catch (error) {
    if (error instanceof TemplateFailed) return { failure: error.failure, message: error.message };
    throw error;
  }
});
