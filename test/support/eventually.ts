/**
 * The pause between two polls: a tenth of the time waited so far, so that a costly poll does not delay what the test waits for.
 */
const POLL_MS = { min: 10, max: 100 } as const;

/** Waits until a condition is true. When the bound has passed it fails with the condition's last error, or with `what`. */
export async function eventually(
  isSo: () => boolean | undefined | Promise<boolean | undefined>,
  boundMs = 120_000,
  what: string = isSo.toString(),
): Promise<void> {
  const began = performance.now();
  for (;;) {
    let failure: unknown;
    try {
      if (await isSo()) return;
    } catch (error) {
      failure = error;
    }
    const waitedMs = performance.now() - began;
    if (waitedMs > boundMs) throw new Error(`Not so within ${boundMs} ms: ${what}`, { cause: failure });
    await new Promise((resolve) => setTimeout(resolve, Math.min(POLL_MS.max, Math.max(POLL_MS.min, waitedMs / 10))));
  }
}
