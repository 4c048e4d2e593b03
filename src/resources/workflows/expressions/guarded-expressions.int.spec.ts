import { afterAll, describe, expect, it } from '@jest/globals';
import { ExpressionFailed } from './expressions.port.js';
import { GuardedExpressions } from './guarded-expressions.js';

const expressions = new GuardedExpressions({ resultCharactersMax: 100_000 });
afterAll(() => expressions.close());

const failure = (expression: string, state: Readonly<Record<string, unknown>> = {}) =>
  expressions.evaluate(expression, state).then(
    (value) => ({ value }),
    (error: unknown) => (error instanceof ExpressionFailed ? error.failure : error),
  );

const NESTED = (levels: number): string => (levels === 0 ? 'false' : `xs.exists(x${levels}, ${NESTED(levels - 1)})`);
const XS = Array.from({ length: 300 }, (_, index) => index);

describe('an expression', () => {
  it.each<[string, Readonly<Record<string, unknown>>, unknown]>([
    ['1 + 2', {}, 3],
    ['score * 100', { score: 1.5 }, 150],
    ['score * 1.5', { score: 2 }, 3],
    ['score / 2', { score: 5 }, 2],
    ['score == 2', { score: 2 }, true],
    ['query.contains("b") && size(xs) == 2', { query: 'abc', xs: [1, 2] }, true],
    ['xs.filter(x, x > 1).map(x, x * 2)', { xs: [1, 2, 3] }, [4, 6]],
    ['{"a": [1, {"b": 2u}], "c": "d"}', {}, { a: [1, { b: 2 }], c: 'd' }],
    ['found', { found: null }, false],
    ['!found', { found: null }, true],
    ['a.b', { a: { b: null } }, false],
    ['9223372036854775807', {}, Number(9223372036854775807n)],
    ['n', { n: 1e300 }, 1e300],
    ['null', {}, null],
    ['timestamp("2026-01-02T03:04:05Z")', {}, '2026-01-02T03:04:05.000Z'],
    ['duration("10s")', {}, '10s'],
    ['b"abc"', {}, 'YWJj'],
    ['type(1)', {}, 'Type<int>'],
    ['x.y', JSON.parse('{"x": {"y": {"__proto__": 1}}}') as Record<string, unknown>, JSON.parse('{"__proto__": 1}')],
  ])('has a value: %s', async (expression, state, value) => {
    expect(await expressions.evaluate(expression, state)).toEqual(value);
  });

  it.each([
    ['1 +', 'invalid'],
    ['', 'invalid'],
    ['__proto__', 'invalid'],
    ['missing > 1', 'failed'],
    ['constructor', 'failed'],
    ['toString', 'failed'],
    ['a.constructor', 'failed'],
    ['"a" + 1', 'failed'],
    ['1.0 / 0.0', 'failed'],
  ])('%j fails as %s', async (expression, kind) => {
    expect(await failure(expression, { a: {} })).toBe(kind);
  });

  it('fails with a message on one line', async () => {
    await expect(expressions.evaluate('1 +', {})).rejects.toThrow(/^The expression is not valid: [^\n]+$/);
    await expect(expressions.evaluate('missing', {})).rejects.toThrow('The expression failed: Unknown variable: missing');
  });

  it('is compiled without a state, together with others', async () => {
    expect(await expressions.compile(['query == "a"', '1 +', 'x.y.z > 2'])).toEqual([undefined, expect.any(String), undefined]);
    expect(await expressions.compile([])).toEqual([]);
  });
});

describe('an endless expression', () => {
  it.each([
    ['nested macros', NESTED(5), { xs: XS }],
    ['a regular expression', 'text.matches("^(a+)+$")', { text: `${'a'.repeat(40)}b` }],
  ])('is terminated at its deadline: %s', async (_, expression, state) => {
    expect(await failure(expression, state)).toBe('out-of-time');
  });

  it('does not block other expressions', async () => {
    const endless = [1, 2, 3].map(() => failure(NESTED(5), { xs: XS }));
    const values = await Promise.all([1, 2, 3].map((n) => expressions.evaluate('n + 1', { n })));
    expect([values, await Promise.all(endless)]).toEqual([
      [2, 3, 4],
      ['out-of-time', 'out-of-time', 'out-of-time'],
    ]);
  });

  it('ends when the caller aborts', async () => {
    const controller = new AbortController();
    const evaluated = expressions.evaluate(NESTED(5), { xs: XS }, controller.signal);
    controller.abort(new Error('gone'));
    await expect(evaluated).rejects.toThrow('gone');
  });

  it('is refused if it needs too much memory or its result is too long', async () => {
    const doubled = 'xs.map(a, xs.map(b, xs.map(c, text + text)))';
    expect(['too-large', 'out-of-time']).toContain(await failure(doubled, { xs: XS, text: 'x'.repeat(1_000) }));
    expect(await failure('text + text', { text: 'x'.repeat(60_000) })).toBe('too-large');
    expect(await expressions.evaluate('1', {})).toBe(1);
  });

  it('is refused as busy if the queue is full', async () => {
    const small = new GuardedExpressions({ waitingMax: 1 });
    const results = await Promise.allSettled(['1', '2'].map((each) => small.evaluate(each, {})));
    expect(results).toMatchObject([{ value: 1 }, { reason: { failure: 'busy' } }]);
    await small.close();
  });
});
