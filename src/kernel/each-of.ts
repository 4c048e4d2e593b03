/** The default number of items that are processed at a time. */
const AT_ONCE_MAX = 8;

/**
 * Processes every item, also after one has failed. @throws Error with the first failure as its cause, after all items were
 * tried
 */
export async function eachOf<T>(items: readonly T[], work: (item: T) => Promise<unknown>, atOnceMax?: number): Promise<void> {
  const failures = await collectFailures(items, work, atOnceMax);
  if (failures.length === 0) return;
  const [cause] = failures;
  const why = cause instanceof Error ? `, the first with: ${cause.message}` : '';
  throw new Error(`${failures.length} of ${items.length} failed${why}`, { cause });
}

/** Processes every item and resolves to the failures. */
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
