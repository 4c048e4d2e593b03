let suite;

/** Sets the functions with which the next suite is declared and checked. */
export function useSuite(functions) {
  const { expect } = functions;
  suite = { ...functions, expect: new Proxy(expect, { apply: (_, __, args) => expectation(expect, args) }) };
}

/** The symbol under which `expect` stores its matchers. */
const STORE = Symbol.for('$$jest-matchers-object');

/**
 * An expectation that makes a matcher when it is read. `expect` itself makes 400 functions for each value, which costs a tenth of
 * the time of all unit tests.
 */
function expectation(expect, args, ...modifiers) {
  const read = (_, name) => {
    if (MODIFIERS.includes(name)) return expectation(expect, args, ...modifiers, name);
    const store = globalThis[STORE];
    const { matchers } = store;
    if (!(name in matchers)) return undefined;
    store.matchers = { [name]: matchers[name] };
    try {
      return modifiers.reduce((made, modifier) => made[modifier], expect(...args))[name];
    } finally {
      store.matchers = matchers;
    }
  };
  return new Proxy({}, { get: read });
}

const MODIFIERS = ['not', 'resolves', 'rejects'];

/** Stories and helpers are loaded once per process and serve many suites, so their calls are forwarded to the running suite. */
const ofTheSuite = (name) =>
  new Proxy(() => undefined, {
    apply: (_, __, args) => suite[name](...args),
    get: (_, key) => suite[name][key],
  });

/** The exports of `@jest/globals`. */
export const [describe, it, test, expect, jest] = ['describe', 'it', 'test', 'expect', 'jest'].map(ofTheSuite);
export const [beforeAll, beforeEach, afterEach, afterAll] = ['beforeAll', 'beforeEach', 'afterEach', 'afterAll'].map(ofTheSuite);
