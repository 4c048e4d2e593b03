import type { Asked, Said } from './messages.js';

/** Signals that a terminal or supervisor sends to all processes of the service. The service itself ends this process. */
const SIGNALS_OF_THE_SERVICE = ['SIGHUP', 'SIGINT', 'SIGTERM'] as const;

/**
 * The main thread of a guarded program. Worker threads do the work, so the main thread can always receive questions,
 * cancellations and the end of the service, with which the program ends.
 */
export function answerQuestions<Question, Answer>(
  answer: (question: Question, signal: AbortSignal) => Promise<Answer>,
  /** Called after each answer has been sent. */
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

/** Ends the process at once. An orderly exit would wait for busy threads. */
export function endAtOnce(): void {
  process.kill(process.pid, 'SIGKILL');
}
