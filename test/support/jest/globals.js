let suite;

/** Sets the functions with which the next suite is declared and checked. */
export function useSuite(functions) {
  suite = functions;
}

/** Stories and helpers are loaded once per process and serve many suites, so their calls are forwarded to the running suite. */
const ofTheSuite = (name) =>
  new Proxy(() => undefined, {
    apply: (_, __, args) => suite[name](...args),
    get: (_, key) => suite[name][key],
  });

/** The exports of `@jest/globals`. */
export const [describe, it, test, expect, jest] = ['describe', 'it', 'test', 'expect', 'jest'].map(ofTheSuite);
export const [beforeAll, beforeEach, afterEach, afterAll] = ['beforeAll', 'beforeEach', 'afterEach', 'afterAll'].map(ofTheSuite);
