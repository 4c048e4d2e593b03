import { describe, expect, it } from '@jest/globals';
import { hasObjectRoot, valueInObjectRoot, withObjectRoot } from './object-root.policy.js';

describe('a schema for endpoints that accept only objects', () => {
  it('is unchanged if it allows only objects', () => {
    const schema = { type: 'object', properties: {} };
    expect(hasObjectRoot(schema)).toBe(true);
    expect(withObjectRoot(schema)).toBe(schema);
    expect(hasObjectRoot({ type: ['object', 'null'] })).toBe(false);
  });

  it('is wrapped otherwise', () =>
    expect(withObjectRoot({ type: 'array', items: { enum: [1, null, 'a'] } })).toEqual({
      type: 'object',
      properties: { value: { type: 'array', items: { enum: [1, null, 'a'] } } },
      required: ['value'],
      additionalProperties: false,
    }));

  it('keeps its dialect and definitions at the root, and loses its id', () => {
    const [$schema, $defs, definitions] = ['https://json-schema.org', { a: { type: 'string' } }, { b: {} }];
    expect(withObjectRoot({ $schema, $id: 'https://example.com', $defs, definitions, type: 'array' })).toEqual({
      $schema,
      type: 'object',
      properties: { value: { type: 'array' } },
      required: ['value'],
      additionalProperties: false,
      $defs,
      definitions,
    });
  });

  it('points at the new place of its root', () =>
    expect(withObjectRoot({ anyOf: [{ items: { $ref: '#' } }, { $ref: '#/$defs/a' }, { const: '#' }] })).toMatchObject({
      properties: { value: { anyOf: [{ items: { $ref: '#/properties/value' } }, { $ref: '#/$defs/a' }, { const: '#' }] } },
    }));
});

describe('what a model wrote for a wrapped schema', () => {
  it.each([[[1, 2]], [null], [undefined]])('has the value %j', (value) =>
    expect(valueInObjectRoot({ value })).toEqual({ value }),
  );
  it.each([[null], ['value'], [[1]], [{}], [{ value: 1, more: 2 }], [{ values: 1 }]])('has no value if it is %j', (written) =>
    expect(valueInObjectRoot(written)).toBeUndefined(),
  );
});
