/**
 * Lets a caller read its own writes: resolves once the read models have passed a position of the log, and anyway after
 * a bounded time. Without a position there is nothing to wait for.
 */
export abstract class Freshness {
  abstract reached(projections: readonly string[], position: bigint | undefined): Promise<void>;
}
