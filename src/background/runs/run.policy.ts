/** How long an attempt goes on trying to write down what it did while the store is away. */
export const RUN_PATIENCE_MS = 30_000;
