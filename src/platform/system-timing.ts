import type { TimerOptions, Timing } from '../kernel/timing.js';

function after(ms: number, work: () => void, { unref = false }: TimerOptions = {}): () => void {
  const timer = setTimeout(work, ms);
  if (unref) timer.unref();
  return () => clearTimeout(timer);
}

function every(ms: number, work: () => void): () => void {
  const timer = setInterval(work, ms).unref();
  return () => clearInterval(timer);
}

function pause(ms: number, signal?: AbortSignal): Promise<void> {
  if (signal?.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const done = () => {
      cancel();
      signal?.removeEventListener('abort', done);
      resolve();
    };
    const cancel = after(ms, done);
    signal?.addEventListener('abort', done, { once: true });
  });
}

/** The timers, clock and random numbers of Node.js. */
export const systemTiming: Timing = {
  elapsedMs: () => performance.now(),
  nextTurn: () => new Promise((resolve) => setImmediate(resolve)),
  pause,
  after,
  every,
  deadline: (ms) => AbortSignal.timeout(ms),
  random: Math.random,
};
