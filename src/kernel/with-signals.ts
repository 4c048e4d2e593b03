import { setMaxListeners } from 'node:events';

/**
 * Runs the work with a signal that aborts with the first of the given ones, and stops listening to them when the work ends.
 * `AbortSignal.any` leaves a trace of each call in a signal that lives as long as the process.
 */
export async function withSignals<T>(
  signals: readonly (AbortSignal | undefined)[],
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const given = signals.filter((signal) => signal !== undefined);
  const over = new AbortController();
  const abort = () => over.abort(given.find(({ aborted }) => aborted)?.reason);
  if (given.some(({ aborted }) => aborted)) abort();
  // Calls at the same time share a signal, so the number of its listeners is not a leak.
  setMaxListeners(0, ...given);
  for (const signal of given) signal.addEventListener('abort', abort);
  try {
    return await work(over.signal);
  } finally {
    for (const signal of given) signal.removeEventListener('abort', abort);
  }
}
