/** Awaits the promise, or throws once the time is up or the signal aborts. A late outcome is ignored. */
export async function withTimeout<T>(ms: number, promise: Promise<T>, late: () => Error, signal?: AbortSignal): Promise<T> {
  let stop = () => {};
  const stopped = new Promise<never>((_, reject) => {
    const timer = setTimeout(() => reject(late()), ms);
    const onAbort = () => reject(late());
    signal?.addEventListener('abort', onAbort);
    if (signal?.aborted) onAbort();
    stop = () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', onAbort);
    };
  });
  try {
    return await Promise.race([promise, stopped]);
  } finally {
    stop();
  }
}
