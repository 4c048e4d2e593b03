/** A read model has not passed a position in time. */
export class ReadModelsBehind extends Error {
  override readonly name = 'ReadModelsBehind';
}

/**
 * Lets a caller read its own writes: resolves to whether the read models have passed a position of the log, as soon as they
 * have and anyway after a bounded time. Without a position there is nothing to wait for.
 */
export abstract class Freshness {
  abstract reached(projections: readonly string[], position: bigint | undefined): Promise<boolean>;
}

/** For those who must not go by an older state. @throws ReadModelsBehind */
export async function requireReached(freshness: Freshness, projections: readonly string[], position: bigint): Promise<void> {
  if (await freshness.reached(projections, position)) return;
  throw new ReadModelsBehind(`Not all of ${projections.join(', ')} have reached position ${position} yet.`);
}
