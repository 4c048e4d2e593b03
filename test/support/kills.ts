/**
 * The number of times that suites kill a service at random moments. A kill meets up to 50 answers, each at a different moment, and
 * every run has new seeds, so the default finds most problems. Use 200 or more after a change to how answers are stored or
 * recovered.
 */
export const KILLS = Number(process.env['TEST_KILLS'] ?? 12);
