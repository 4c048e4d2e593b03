import type { Asked, Said } from './messages.js';

/** What the terminal or the supervisor sends to all processes of the service at once; the service itself says when it is over. */
const SIGNALS_OF_THE_SERVICE = ['SIGHUP', 'SIGINT', 'SIGTERM'] as const;

/**
 * The main thread of a guarded program: it leaves the work to threads, so it is always there to hear a question, a cancellation,
 * and the end of the service, which is its own.
 */
export function answerQuestions<Question, Answer>(
  answer: (question: Question, signal: AbortSignal) => Promise<Answer>,
  /** Called after each answer, once it is on its way. */
  afterwards: () => void = () => undefined,
): void {
  const underWay = new Map<number, AbortController>();
  const say = (said: Said<Answer>) => process.send?.(said, undefined, undefined, said === 'ready' ? () => undefined : afterwards);
  const reply = async (id: number, question: Question) => {
    const controller = new AbortController();
    underWay.set(id, controller);
    try {
      say({ id, answer: await answer(question, controller.signal) });
    } catch (error) {
      say({ id, failed: error instanceof Error ? (error.stack ?? error.message) : String(error) });
    } finally {
      underWay.delete(id);
    }
  };
  process.on('disconnect', endAtOnce);
  if (!process.connected) endAtOnce();
  for (const signal of SIGNALS_OF_THE_SERVICE) process.on(signal, () => undefined);
  process.on('message', (asked: Asked<Question>) => {
    if ('cancel' in asked) underWay.get(asked.cancel)?.abort();
    else void reply(asked.id, asked.question);
  });
  say('ready');
}

/** An orderly exit would wait for threads that are busy. */
export function endAtOnce(): void {
  process.kill(process.pid, 'SIGKILL');
}
