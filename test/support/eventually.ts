const POLL_MS = 10;

/** Waits until something is true; fails with its last error, or with what it is about, once the bound has passed. */
export async function eventually(
  isSo: () => boolean | undefined | Promise<boolean | undefined>,
  boundMs = 60_000,
  what: string = isSo.toString(),
): Promise<void> {
  const until = performance.now() + boundMs;
  for (;;) {
    let failure: unknown;
    try {
      if (await isSo()) return;
    } catch (error) {
      failure = error;
    }
    if (performance.now() > until) throw new Error(`Not so within ${boundMs} ms: ${what}`, { cause: failure });
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}
