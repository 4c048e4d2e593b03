/** A read model did not reach a position in time. */
export class ReadModelsBehind extends Error {
  override readonly name = 'ReadModelsBehind';
}

/**
 * Lets callers read their own writes. Resolves to true as soon as the read models have reached a position of the log, and to false
 * after a bounded time. Without a position it resolves to true at once.
 */
export abstract class Freshness {
  abstract reached(projections: readonly string[], position: bigint | undefined): Promise<boolean>;
}

/** Waits for the read models, for callers that must not use an older state. @throws ReadModelsBehind */
export async function requireReached(freshness: Freshness, projections: readonly string[], position: bigint): Promise<void> {
  if (await freshness.reached(projections, position)) return;
  throw new ReadModelsBehind(`Not all of ${projections.join(', ')} have reached position ${position} yet.`);
}
