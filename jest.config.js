/** jest on Node itself (`test/support/jest/runtime.js`). Suites are chosen by file name: unit `.spec.ts`, `.oracle.spec.ts`, `.int.spec.ts`, `.e2e.spec.ts`, `.fault.spec.ts`, `.nats.spec.ts`, `.browser.spec.ts`. */
const base = {
  testEnvironment: '<rootDir>/test/support/jest/environment.js',
  runtime: '<rootDir>/test/support/jest/runtime.js',
  injectGlobals: false,
  // For what never ends: a test that is only slow, on a machine that is, shall pass.
  testTimeout: 120_000,
  setupFiles: ['reflect-metadata'],
  roots: ['<rootDir>/src', '<rootDir>/projections', '<rootDir>/test'],
  transform: {},
};

const suite = (displayName, testRegex, more = {}) => ({ ...base, displayName, testRegex, ...more });
const withPostgres = {
  globalSetup: '<rootDir>/test/support/postgres-for-tests.setup.js',
  globalTeardown: '<rootDir>/test/support/postgres-for-tests.teardown.js',
};

export default {
  projects: [
    suite('unit', '(?<!\\.(oracle|int|e2e|fault|nats|browser)|/simulation)\\.spec\\.ts$'),
    // As pure as unit tests, but held against enumerations that take their time.
    suite('oracle', '\\.oracle\\.spec\\.ts$'),
    // The core in simulated processes and time, by seeds.
    suite('simulation', '/simulation\\.spec\\.ts$'),
    suite('int', '\\.int\\.spec\\.ts$', withPostgres),
    suite('e2e', '\\.e2e\\.spec\\.ts$', withPostgres),
    suite('fault', '\\.fault\\.spec\\.ts$', withPostgres),
    suite('nats', '\\.nats\\.spec\\.ts$', withPostgres),
    suite('browser', '\\.browser\\.spec\\.ts$', withPostgres),
  ],
  testTimeout: 120_000,
  // Stories wait for each other's processors, and faults for processes that start: five at a time keep two processors busy.
  maxWorkers: 5,
  testSequencer: '<rootDir>/test/support/slowest-first.sequencer.cjs',
  // Modules of finished suites are never freed from a process, and a full heap stands still for seconds.
  workerIdleMemoryLimit: '768MB',
};
