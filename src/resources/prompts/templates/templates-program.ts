import { TemplateFailed, type TemplateFailure } from './template-engine.port.js';
import { answerQuestions } from '../../../platform/sandbox/answer-questions.js';
import type { TemplateLimits } from './template-limits.js';
import { TemplateThreads } from './template-threads.js';

export type TemplateQuestion = Readonly<{ template: string; context: object }>;
export type TemplateAnswer = Readonly<{ text: string } | { failure: TemplateFailure; message: string }>;

const threads = new TemplateThreads(JSON.parse(process.argv[2]!) as TemplateLimits);

answerQuestions(async ({ template, context }: TemplateQuestion): Promise<TemplateAnswer> => {
  try {
    return { text: await threads.render(template, context) };
  } catch (error) {
    if (error instanceof TemplateFailed) return { failure: error.failure, message: error.message };
    throw error;
  }
});
