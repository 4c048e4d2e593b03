/** Appends are retried this long while the store is unavailable. */
export const RUN_PATIENCE_MS = 30_000;
