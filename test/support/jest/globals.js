let suite;

/** From now on a suite is loaded and run that is declared and judged by these functions. */
export function useSuite(functions) {
  suite = functions;
}

/** Stories and helpers are loaded once in a process and serve many suites: what they call is always of the suite that runs. */
const ofTheSuite = (name) =>
  new Proxy(() => undefined, {
    apply: (_, __, args) => suite[name](...args),
    get: (_, key) => suite[name][key],
  });

/** What suites import of `@jest/globals`. */
export const [describe, it, test, expect, jest] = ['describe', 'it', 'test', 'expect', 'jest'].map(ofTheSuite);
export const [beforeAll, beforeEach, afterEach, afterAll] = ['beforeAll', 'beforeEach', 'afterEach', 'afterAll'].map(ofTheSuite);
