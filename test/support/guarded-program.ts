import { appendFileSync } from 'node:fs';
import { Worker } from 'node:worker_threads';
import { answerQuestions } from '../../src/platform/sandbox/answer-questions.js';

/** What the program of these tests can be asked. */
export type TestQuestion =
  | Readonly<{ echo: unknown }>
  /** Answered when nothing else is in hand. */
  | 'alone'
  /** Never answered; says so in a file when it was cancelled. */
  | 'wait'
  | 'throw'
  | 'abort'
  /** Keeps a thread busy for ever, and answers at once. */
  | 'busy thread';

export type TestProgramOptions = Readonly<{
  /** Gets a line for each start and each cancellation. */
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
