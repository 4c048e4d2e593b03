/** How often services are asked at random; agents, each of which is made, moved and compared, a tenth as often. */
export const FUZZ_RUNS = Number(process.env['TEST_FUZZ_RUNS'] ?? 100);
