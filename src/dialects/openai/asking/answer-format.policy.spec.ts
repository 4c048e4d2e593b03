import { describe, expect, it } from '@jest/globals';
import { formatIn, schemaIn } from './answer-format.policy.js';

const schema = { type: 'array' };
const refusal = (param: string, why: string) =>
  expect.objectContaining({ code: 'invalid-request', message: `${param} ${why}`, details: { param } });

describe('the format of an answer', () => {
  it.each([
    ['text has no schema', { type: 'text' }, undefined],
    ['json_object allows any object', { type: 'json_object' }, { type: 'object' }],
    ['json_schema holds the schema itself', { type: 'json_schema', schema }, schema],
  ])('%s', (_, format, expected) => expect(formatIn(format, 'text.format')).toEqual(expected));

  it('json_schema holds the schema in the field that the endpoint names', () => {
    const nested = { type: 'json_schema', json_schema: { schema } };
    expect(formatIn(nested, 'response_format', 'json_schema')).toBe(schema);
    // The field of the other endpoint is not read.
    expect(() => formatIn(nested, 'text.format')).toThrow(refusal('text.format.schema', 'must be a JSON Schema.'));
    expect(() => formatIn({ type: 'json_schema', schema }, 'response_format', 'json_schema')).toThrow(
      refusal('response_format.json_schema.schema', 'must be a JSON Schema.'),
    );
  });

  it.each([
    ['json', 'format', 'must be an object.'],
    [null, 'format', 'must be an object.'],
    [{}, 'format.type', 'must be text, json_object or json_schema.'],
    [{ type: 'xml' }, 'format.type', 'must be text, json_object or json_schema.'],
    [{ type: 'json_schema', schema: [] }, 'format.schema', 'must be a JSON Schema.'],
  ])('%j is refused', (format, param, why) => expect(() => formatIn(format, 'format')).toThrow(refusal(param, why)));
});

describe('a response_schema', () => {
  it('is the schema itself, or holds it in its field schema', () => {
    expect(schemaIn(schema, 'response_schema')).toBe(schema);
    expect(schemaIn({ name: 'list', schema }, 'response_schema')).toBe(schema);
    expect(schemaIn({ schema: 'list' }, 'response_schema')).toEqual({ schema: 'list' });
  });
  it('is refused if it is no object', () =>
    expect(() => schemaIn('list', 'response_schema')).toThrow(refusal('response_schema', 'must be a JSON Schema.')));
});
