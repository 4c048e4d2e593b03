import { describe, expect, it } from '@jest/globals';
import { normalSchema, problemsWith } from './response-schema.policy.js';

const person = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] };

describe('a response schema', () => {
  it('is stored without its wrapper', () => {
    expect(normalSchema(person)).toEqual(person);
    expect(normalSchema({ name: 'person', strict: true, schema: person })).toEqual(person);
  });

  it('may be missing', () => expect([normalSchema(null), normalSchema('')]).toEqual([null, null]));

  it('may have properties with the names of keywords', () => {
    const schema = { type: 'object', properties: { pattern: { type: 'string' }, const: { enum: [{ pattern: '(a+)+$' }] } } };
    expect(normalSchema(schema)).toEqual(schema);
  });

  it('may name another draft, and may have the same id as another schema', () => {
    for (const title of ['a', 'b']) {
      const schema = { $id: 'urn:x', $schema: 'http://json-schema.org/draft-07/schema#', type: 'object', title };
      expect(normalSchema(schema)).toEqual(schema);
    }
  });

  it('may have many properties within the size limit', () => {
    const properties = Object.fromEntries(Array.from({ length: 2_500 }, (_, at) => [`p${at}`, { type: 'string' }]));
    expect(normalSchema({ type: 'object', properties })).toEqual({ type: 'object', properties });
  });

  const nested = (depth: number): object => (depth === 0 ? { type: 'string' } : { type: 'array', items: nested(depth - 1) });
  it.each<[string, unknown]>([
    ['a list', []],
    ['text', 'object'],
    ['an object without a type', { properties: {} }],
    ['an unknown type', { type: 'thing' }],
    ['a reference to another document', { type: 'object', properties: { a: { $ref: 'https://example.org/a.json' } } }],
    ['a regular expression', { type: 'string', pattern: '^(a+)+$' }],
    ['a nested regular expression', { type: 'object', properties: { a: { anyOf: [{ not: { pattern: 'a' } }] } } }],
    ['a regular expression behind a reference to data', { type: 'string', $ref: '#/default', default: { pattern: '^(a+)+$' } }],
    ['a reference to a property', { type: 'object', properties: { a: { $ref: '#/properties/b' }, b: {} } }],
    ['a dynamic reference', { type: 'object', properties: { a: { $dynamicRef: '#b' } } }],
    ['regular expressions for property names', { type: 'object', patternProperties: { '(a+)+$': {} } }],
    ['too deep nesting', nested(60)],
    ['too many characters', { type: 'object', description: 'x'.repeat(70_000) }],
  ])('is refused: %s', (_, value) => {
    expect(() => normalSchema(value)).toThrow(expect.objectContaining({ code: 'invalid-json-schema' }));
  });
});

describe('an answer', () => {
  it('is validated against the schema', () => {
    expect(problemsWith({ name: 'Ada' }, person)).toEqual([]);
    expect(problemsWith({ name: 1 }, person)).toEqual(['/name must be string']);
    expect(problemsWith([], person)).toEqual(['The answer must be object']);
  });

  it('is invalid if its schema refers to itself endlessly', () => {
    const schema = { type: 'object', allOf: [{ $ref: '#' }] };
    expect(problemsWith({}, schema)).toEqual(['The schema refers to itself without an end.']);
  });
});
