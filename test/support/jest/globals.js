let suite;

/** Sets the functions with which the next suite is declared and checked. */
export function useSuite(functions) {
  suite = { ...functions, expect: quick(functions.expect) };
}

/** The symbol under which `expect` stores its matchers. */
const STORE = Symbol.for('$$jest-matchers-object');

let quickExpect;

/**
 * `expect`, with the same matchers. `expect` itself makes 400 functions, a stack trace and a copy of its helpers for each value,
 * which costs a sixth of the time of all unit tests.
 */
function quick(expect) {
  quickExpect ??= new Proxy(expect, { apply: expectation(expect) });
  return quickExpect;
}

function expectation(expect) {
  const { matchers } = globalThis[STORE];
  const context = contextOf(expect);
  const negated = { ...context, isNot: true };

  class Expectation {
    constructor(actual, given) {
      this.actual = actual;
      this.context = given;
    }

    get not() {
      return new Expectation(this.actual, negated);
    }

    get resolves() {
      return expect(this.actual).resolves;
    }

    get rejects() {
      return expect(this.actual).rejects;
    }
  }
  for (const [name, matcher] of Object.entries(matchers)) {
    Expectation.prototype[name] = function check(...expected) {
      try {
        const result = matcher.call(this.context, this.actual, ...expected);
        if (result.pass === this.context.isNot) throw failure(result);
      } catch (error) {
        // The stack trace begins in the suite.
        Error.captureStackTrace(error, check);
        throw error;
      }
      expect.getState().numPassingAsserts++;
    };
  }
  return (_, __, [actual]) => new Expectation(actual, context);
}

/** What `expect` gives to each matcher. */
function contextOf(expect) {
  let context;
  expect.extend({
    readContext() {
      context = this;
      return { pass: true };
    },
  });
  expect().readContext();
  return context;
}

function failure(result) {
  const message = result.message();
  return Object.assign(new Error(message), { matcherResult: { ...result, message } });
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
