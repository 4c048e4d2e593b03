/** Maximum difference, in milliseconds, between the clocks of two processes, for decisions about a date that another one has set. */
export const CLOCKS_APART_MS_MAX = 20 * 60_000;
