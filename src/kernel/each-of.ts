/** How many items are worked on at a time, unless the caller says otherwise. */
const AT_ONCE_MAX = 8;

/**
 * Work on each of several things, where one that fails does not keep the others waiting. @throws Error with the first failure
 * as its cause, once all were tried
 */
export async function eachOf<T>(items: readonly T[], work: (item: T) => Promise<unknown>, atOnceMax?: number): Promise<void> {
  const failures = await collectFailures(items, work, atOnceMax);
  if (failures.length === 0) return;
  const [cause] = failures;
  const why = cause instanceof Error ? `, the first with: ${cause.message}` : '';
  throw new Error(`${failures.length} of ${items.length} failed${why}`, { cause });
}

/** Resolves to what went wrong, once all were tried. */
export async function collectFailures<T>(
  items: readonly T[],
  work: (item: T) => Promise<unknown>,
  atOnceMax = AT_ONCE_MAX,
): Promise<readonly unknown[]> {
  const failures: unknown[] = [];
  const left = items.values();
  const worker = async () => {
    for (const item of left) await work(item).catch((error: unknown) => failures.push(error));
  };
  await Promise.all(Array.from({ length: Math.min(atOnceMax, items.length) }, worker));
  return failures;
}
