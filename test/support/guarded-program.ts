import { appendFileSync } from 'node:fs';
import { Worker } from 'node:worker_threads';
import { answerQuestions } from '../../src/platform/sandbox/answer-questions.js';

/** The questions to the program of these tests. */
export type TestQuestion =
  | Readonly<{ echo: unknown }>
  /** Answered when no other question is in progress. */
  | 'alone'
  /** Never answered. Its cancellation is logged in a file. */
  | 'wait'
  | 'throw'
  | 'abort'
  /** Answered at once, but keeps a thread busy for ever. */
  | 'busy thread';

export type TestProgramOptions = Readonly<{
  /** A file that gets a line for each start and each cancellation. */
  log?: string;
  logsPid?: true;
  ends?: 'before it is ready';
}>;

const { log, logsPid, ends } = JSON.parse(process.argv[2]!) as TestProgramOptions;
const note = (line: string) => log && appendFileSync(log, `${line}\n`);
let inHand = 0;

note(logsPid ? `started ${process.pid}` : 'started');
if (ends) process.exit(3);
answerQuestions(async (question: TestQuestion, signal): Promise<unknown> => {
  inHand++;
  try {
    return await answer(question, signal);
  } finally {
    inHand--;
  }
});

async function answer(question: TestQuestion, signal: AbortSignal): Promise<unknown> {
  if (typeof question === 'object') return question.echo;
  if (question === 'throw') throw new Error('thrown inside');
  if (question === 'abort') process.abort();
  if (question === 'busy thread') return new Worker('for (;;);', { eval: true }).threadId;
  if (question === 'alone' && inHand === 1) return 'alone';
  await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
  note('cancelled');
  return 'cancelled';
}
