import { expect, it } from '@jest/globals';
import { chatRequestOf } from './chat-request.policy.js';

const messages = [{ role: 'user', content: 'When is tea?' }];
const schema = { type: 'object', properties: { hour: { type: 'number' } } };
const schemaOf = (more: object) => chatRequestOf({ messages, ...more }, 'agent').schema;

it.each([
  ['a JSON Schema', schema],
  ['an object that holds a JSON Schema', { schema }],
])('takes response_schema, which DocsGPT has beside response_format, as %s', (_, response_schema) => {
  expect(schemaOf({ response_schema })).toEqual(schema);
  expect(schemaOf({ response_schema, response_format: { type: 'text' } })).toEqual(schema);
});

it('names response_schema if it is not an object', () => {
  expect(() => schemaOf({ response_schema: 'tea' })).toThrow('response_schema must be a JSON Schema.');
});
