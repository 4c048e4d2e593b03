import { answerQuestions } from '../../../platform/sandbox/answer-questions.js';
import { type ExpressionFailure, ExpressionFailed } from './expressions.port.js';
import type { ExpressionLimits } from './expression-limits.js';
import { type ExpressionAnswer, type ExpressionQuestion, ExpressionThreads } from './expression-threads.js';

export type ExpressionReply = ExpressionAnswer | Readonly<{ failure: ExpressionFailure; message: string }>;

const threads = new ExpressionThreads(JSON.parse(process.argv[2]!) as ExpressionLimits);

answerQuestions(async (question: ExpressionQuestion, signal): Promise<ExpressionReply> => {
  try {
    return await threads.ask(question, signal);
  } catch (error) {
    if (error instanceof ExpressionFailed) return { failure: error.failure, message: error.message };
    throw error;
  }
});
