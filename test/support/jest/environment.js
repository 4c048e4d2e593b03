import { ModernFakeTimers } from '@jest/fake-timers';
import { ModuleMocker } from 'jest-mock';

/** Runs suites in the process itself, with its globals. Changes that a suite makes to them are undone after it. */
export default class ProcessEnvironment {
  global = globalThis;
  moduleMocker = new ModuleMocker(globalThis);
  fakeTimers = null;

  constructor({ projectConfig }) {
    this.fakeTimersModern = new ModernFakeTimers({ config: projectConfig, global: globalThis });
    this.before = { env: { ...process.env }, exit: process.exit, directory: process.cwd(), console: globalThis.console };
  }

  /** The parts of the `jest` object that suites here use. */
  get jest() {
    const { fakeTimersModern: timers, moduleMocker } = this;
    return {
      spyOn: moduleMocker.spyOn.bind(moduleMocker),
      useFakeTimers: (options) => timers.useFakeTimers(options),
      useRealTimers: () => timers.useRealTimers(),
      advanceTimersByTime: (ms) => timers.advanceTimersByTime(ms),
      advanceTimersByTimeAsync: (ms) => timers.advanceTimersByTimeAsync(ms),
      getTimerCount: () => timers.getTimerCount(),
      setTimeout: (ms) => {
        globalThis[TIMEOUT] = ms;
      },
    };
  }

  async setup() {
    // jest has set it to 100. Each error of a test then costs several times as much, also those that the service itself makes.
    Error.stackTraceLimit = 20;
  }

  async teardown() {
    this.fakeTimersModern.dispose();
    this.moduleMocker.restoreAllMocks();
    delete globalThis[TIMEOUT];
    const { env, exit, directory, console } = this.before;
    for (const name of Object.keys(process.env)) if (!(name in env)) delete process.env[name];
    Object.assign(process.env, env);
    process.exit = exit;
    process.chdir(directory);
    globalThis.console = console;
  }

  exportConditions() {
    return ['node', 'node-addons'];
  }

  getVmContext() {
    return null;
  }
}

/** The symbol under which jest-circus looks up the timeout of a test. */
const TIMEOUT = Symbol.for('TEST_TIMEOUT_SYMBOL');
