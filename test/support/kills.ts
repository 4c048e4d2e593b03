/**
 * How often suites that kill a service at random moments do so. A kill meets up to 50 answers, each at a moment of its own, so that
 * these find every day what most of the kills would bring about. CI sets more, as many as fit into its time, and each time with
 * other seeds; 200 and more are for whoever has changed how answers are stored or recovered.
 */
export const KILLS = Number(process.env['TEST_KILLS'] ?? 12);
