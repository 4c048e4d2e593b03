/**
 * Runs jest directly on Node (`test/support/jest/runtime.js`). The file name decides the project: unit `.spec.ts`,
 * `.oracle.spec.ts`, `.int.spec.ts`, `.e2e.spec.ts`, `.fault.spec.ts`, `.nats.spec.ts`, `.browser.spec.ts`.
 */
const base = {
  testEnvironment: '<rootDir>/test/support/jest/environment.js',
  runtime: '<rootDir>/test/support/jest/runtime.js',
  injectGlobals: false,
  // For tests that never end. A test that is only slow, on a slow machine, must pass.
  testTimeout: 240_000,
  setupFiles: ['reflect-metadata'],
  roots: ['<rootDir>/src', '<rootDir>/projections', '<rootDir>/test'],
  transform: {},
  globalSetup: '<rootDir>/test/support/compile.setup.js',
};

const suite = (displayName, testRegex, more = {}) => ({ ...base, displayName, testRegex, ...more });
const withPostgres = {
  globalSetup: '<rootDir>/test/support/postgres-for-tests.setup.js',
  globalTeardown: '<rootDir>/test/support/postgres-for-tests.teardown.js',
};

export default {
  projects: [
    suite('unit', '(?<!\\.(oracle|int|e2e|fault|nats|browser)|/simulation)\\.spec\\.ts$'),
    // They need as little as unit tests, but enumerate much, or compare with what a compiler finds in all sources.
    suite('oracle', '\\.oracle\\.spec\\.ts$'),
    // The core in simulated processes and time, driven by seeds.
    suite('simulation', '/simulation\\.spec\\.ts$'),
    suite('int', '\\.int\\.spec\\.ts$', withPostgres),
    suite('e2e', '\\.e2e\\.spec\\.ts$', withPostgres),
    suite('fault', '\\.fault\\.spec\\.ts$', withPostgres),
    suite('nats', '\\.nats\\.spec\\.ts$', withPostgres),
    suite('browser', '\\.browser\\.spec\\.ts$', withPostgres),
  ],
  testTimeout: 240_000,
  // Faults wait for processes that start, so one worker more than CPUs keeps two of them busy. With five, 22 suites of stories took
  // 163 s instead of 137 s, and 308 s of processor time instead of 268 s.
  maxWorkers: 3,
  testSequencer: '<rootDir>/test/support/slowest-first.sequencer.cjs',
  // Modules of finished suites are never freed, and a full heap pauses the process for seconds.
  workerIdleMemoryLimit: '768MB',
};
