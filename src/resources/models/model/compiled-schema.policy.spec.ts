import { describe, expect, it } from '@jest/globals';
import { Ajv2020 } from 'ajv/dist/2020.js';
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

  it('finds the same unevaluated properties as Ajv', () => {
    const withoutMeta = { meta: false, validateSchema: false } as const;
    const names = fc.constantFrom('a', 'b', 'c', 'd');
    const properties = fc.dictionary(names, fc.constantFrom<boolean | object>(true, { const: 1 }), { maxKeys: 2 });
    const { schema } = fc.letrec<{ schema: object }>((tie) => {
      const part = tie('schema');
      const keywords = {
        properties,
        allOf: fc.array(part, { minLength: 1, maxLength: 3 }),
        anyOf: fc.array(part, { minLength: 1, maxLength: 2 }),
        if: part,
        then: part,
        not: part,
        unevaluatedProperties: fc.constantFrom<boolean | object>(false, true, { const: 1 }),
      };
      return { schema: fc.oneof({ maxDepth: 3 }, fc.record({ properties }), fc.record(keywords, { requiredKeys: [] })) };
    });
    const value = fc.dictionary(names, fc.constantFrom(1, 2));
    fc.assert(
      fc.property(schema, value, (whole, given) => {
        const isValid = new Ajv2020({ ...withoutMeta, strict: false, logger: false, allErrors: true }).compile(whole)(given);
        expect(compiledSchema(whole, withoutMeta)(given).length === 0).toBe(isValid);
      }),
    );
  });
});
