/** The number of random requests to services. Agents are tested a tenth as often, because each is created, moved and compared. */
export const FUZZ_RUNS = Number(process.env['TEST_FUZZ_RUNS'] ?? 100);
