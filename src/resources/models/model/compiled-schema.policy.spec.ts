import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { cpuMsOf } from '../../../../test/support/cpu-time.js';
import { compiledSchema, REFERENCES_FOLLOWED_MAX, SchemaWithoutEnd } from './compiled-schema.policy.js';

const named = <T>(count: number, value: (at: number) => T): Readonly<Record<string, T>> =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => [`n${at}`, value(at)]));

const schemas = (count: number) => Array.from({ length: count }, (_, at) => ({ minimum: at }));

describe('the compilation of a schema', () => {
  it.each<[string, object]>([
    ['many properties', { properties: named(2_000, () => ({ type: 'string' })) }],
    ['many alternatives', { anyOf: schemas(2_000) }],
    ['many conditions', { allOf: schemas(2_000) }],
    [
      'many references to something large',
      {
        $defs: { large: { properties: named(500, () => ({ type: 'string' })) } },
        properties: named(500, () => ({ $ref: '#/$defs/large' })),
      },
    ],
  ])('takes at most four seconds of processor time for %s', (_, schema) => {
    expect(cpuMsOf(() => compiledSchema(schema))).toBeLessThan(4_000);
  });
});

describe('the validation of a value', () => {
  /** Each definition refers to the next one twice. */
  const doubling = (levels: number) => ({
    $ref: '#/$defs/n0',
    $defs: named(levels, (at) => {
      const next = { $ref: `#/$defs/n${at + 1}` };
      return at === levels - 1 ? { type: 'string' } : { allOf: [next, next] };
    }),
  });

  it('reports all errors, also those behind references', () => {
    const errorsOf = compiledSchema({ properties: { a: doubling(3) }, $defs: doubling(3).$defs, required: ['b'] });
    expect(errorsOf({ a: 'a', b: 1 })).toEqual([]);
    expect(errorsOf({ a: 1 }).map(({ instancePath, message }) => `${instancePath} ${message}`)).toEqual(
      expect.arrayContaining(['/a must be string', " must have required property 'b'"]),
    );
  });

  it(`follows at most ${REFERENCES_FOLLOWED_MAX} references per value`, () => {
    const errorsOf = compiledSchema({ items: { $ref: '#/$defs/s' }, $defs: { s: { type: 'string' } } });
    const most = Array<string>(REFERENCES_FOLLOWED_MAX).fill('');
    expect([errorsOf(most), errorsOf(most)]).toEqual([[], []]);
    expect(() => errorsOf([...most, ''])).toThrow(SchemaWithoutEnd);
  });

  it('fails when references multiply or recurse endlessly', () => {
    const cpuMs = cpuMsOf(() => expect(() => compiledSchema(doubling(40))('')).toThrow(SchemaWithoutEnd));
    expect(cpuMs).toBeLessThan(4_000);
    expect(() => compiledSchema({ allOf: [{ $ref: '#' }] })({})).toThrow(SchemaWithoutEnd);
  });

  it('finds duplicate items in linear time', () => {
    const errorsOf = compiledSchema({ uniqueItems: true });
    expect(errorsOf([1, '1', { a: 1, b: 2 }, [1]])).toEqual([]);
    expect(
      errorsOf([
        { a: 1, b: 2 },
        { b: 2, a: 1 },
      ]),
    ).toMatchObject([{ message: 'must NOT have duplicate items' }]);
    expect(compiledSchema({ uniqueItems: false })([1, 1])).toEqual([]);
    expect(cpuMsOf(() => errorsOf(Array.from({ length: 100_000 }, (_, at) => at)))).toBeLessThan(4_000);
  });

  it.each([
    ['in one object', { properties: named(4_000, () => true) }],
    ['in the parts of allOf', { allOf: Array.from({ length: 1_700 }, (_, at) => ({ properties: { [`n${at}`]: true } })) }],
  ])('finds unevaluated properties in linear time beside many known ones %s', (_, known) => {
    const problems: unknown[] = [];
    const cpuMs = cpuMsOf(() => {
      const errorsOf = compiledSchema({ ...known, unevaluatedProperties: false });
      problems.push(...[{ n1: 1 }, { n1: 1, q: 1 }, { constructor: 1 }].map((value) => errorsOf(value).length));
    });
    expect(problems).toEqual([0, 1, 1]);
    expect(cpuMs).toBeLessThan(3_000);
  });

  it.each<[string, Nested, boolean]>([
    [
      'of a condition that does not hold',
      { if: { properties: { a: { const: 2 } } }, then: {}, unevaluatedProperties: false },
      false,
    ],
    ['of a condition without clauses', { if: { properties: { a: true } }, unevaluatedProperties: false }, true],
    [
      'known before a clause that does not apply',
      {
        allOf: [{ properties: { a: true } }],
        if: { properties: { a: { const: 2 } } },
        then: { unevaluatedProperties: false },
        unevaluatedProperties: false,
      },
      true,
    ],
  ])('counts the evaluated properties %s as the specification does', (_, schema, isValid) => {
    expect(compiledSchema(schema)({ a: 1 }).length === 0).toBe(isValid);
  });

  it.each<[string, object]>([
    ['anyOf', { anyOf: [{ required: ['b'], properties: { b: true } }, {}] }],
    ['oneOf', { oneOf: [{ required: ['b'], properties: { b: true } }, {}] }],
    ['dependentSchemas', { dependentSchemas: { b: { properties: { b: true } } } }],
    ['if', { if: { required: ['b'] }, then: { properties: { b: true } } }],
  ])('does not forget the properties of a reference beside %s', (_, parts) => {
    const known = { $ref: '#/$defs/known', $defs: { known: { properties: { a: true } } } };
    const errorsOf = compiledSchema({ ...known, ...parts, unevaluatedProperties: false });
    expect([{ a: 1 }, { a: 1, c: 1 }].map((value) => errorsOf(value).length)).toEqual([0, 1]);
  });

  it('finds the unevaluated properties that the specification names', () => {
    const names = fc.constantFrom('a', 'b', 'c', 'd');
    const properties = fc.dictionary(names, fc.constantFrom<Simple>(true, { const: 1 }), { maxKeys: 2 });
    const { schema } = fc.letrec<{ schema: Nested }>((tie) => {
      const part = tie('schema');
      const keywords = {
        properties,
        allOf: fc.array(part, { minLength: 1, maxLength: 3 }),
        anyOf: fc.array(part, { minLength: 1, maxLength: 2 }),
        oneOf: fc.array(part, { minLength: 1, maxLength: 2 }),
        dependentSchemas: fc.dictionary(names, part, { maxKeys: 2 }),
        if: part,
        then: part,
        else: part,
        not: part,
        unevaluatedProperties: fc.constantFrom<Simple>(false, true, { const: 1 }),
      };
      return { schema: fc.oneof({ maxDepth: 3 }, fc.record({ properties }), fc.record(keywords, { requiredKeys: [] })) };
    });
    const value = fc.dictionary(names, fc.constantFrom(1, 2));
    fc.assert(
      fc.property(schema, value, (whole, given) => {
        const isValid = compiledSchema(whole, { meta: false, validateSchema: false })(given).length === 0;
        expect(isValid).toBe(evaluatedBy(whole, given) !== undefined);
      }),
    );
  });
});

type Simple = boolean | Readonly<{ const: number }>;
type Nested = Readonly<{
  properties?: Readonly<Record<string, Simple>>;
  allOf?: readonly Nested[];
  anyOf?: readonly Nested[];
  oneOf?: readonly Nested[];
  dependentSchemas?: Readonly<Record<string, Nested>>;
  if?: Nested;
  then?: Nested;
  else?: Nested;
  not?: Nested;
  unevaluatedProperties?: Simple;
}>;

/**
 * The names of the properties that a schema evaluates, as section 11.3 of JSON Schema 2020-12 defines them. A schema that
 * refuses the value evaluates none. Undefined if it refuses. Ajv itself is no reference: it counts what a failed `if` evaluates.
 */
function evaluatedBy(schema: Nested, value: Readonly<Record<string, number>>): ReadonlySet<string> | undefined {
  const allows = (simple: Simple, each: number) => (typeof simple === 'object' ? simple.const === each : simple);
  const isDefined = <T>(each: T | undefined): each is T => each !== undefined;
  const named = Object.keys(value).filter((name) => schema.properties && Object.hasOwn(schema.properties, name));
  if (!named.every((name) => allows(schema.properties![name]!, value[name]!))) return undefined;
  const dependent = Object.entries(schema.dependentSchemas ?? {}).filter(([name]) => Object.hasOwn(value, name));
  const required = [...(schema.allOf ?? []), ...dependent.map(([, part]) => part)].map((part) => evaluatedBy(part, value));
  const [alternatives, single] = [schema.anyOf, schema.oneOf].map((parts) =>
    parts?.map((part) => evaluatedBy(part, value)).filter(isDefined),
  );
  if (alternatives?.length === 0 || (single && single.length !== 1) || (schema.not && evaluatedBy(schema.not, value)))
    return undefined;
  const condition = schema.if && evaluatedBy(schema.if, value);
  const consequence = schema.if && (condition ? schema.then : schema.else);
  if (consequence) required.push(evaluatedBy(consequence, value));
  if (!required.every(isDefined)) return undefined;
  const evaluated = new Set([
    ...named,
    ...[...required, ...(alternatives ?? []), ...(single ?? []), condition ?? []].flatMap((names) => [...names]),
  ]);
  const rest = schema.unevaluatedProperties;
  if (rest === undefined) return evaluated;
  const unevaluated = Object.keys(value).filter((name) => !evaluated.has(name));
  return unevaluated.every((name) => allows(rest, value[name]!)) ? new Set(Object.keys(value)) : undefined;
}
