import { expect, it } from '@jest/globals';
import { JSON_ENTRIES_MAX } from '../../kernel/bounded-json.js';
import { readAgentFields } from './agent-fields.http.js';

it('reads the strings of a form as the same fields as JSON', async () => {
  const form = {
    name: 'A',
    chunks: '3',
    limited_token_mode: 'true',
    config: '{"a":{"b":[1]}}',
    tools: '["t"]',
    folder_id: '',
    more: 'x',
  };
  const fields = { name: 'A', chunks: 3, limited_token_mode: true, config: { a: { b: [1] } }, tools: ['t'], folder_id: '' };
  expect(await readAgentFields(form)).toEqual(fields);
  expect(await readAgentFields({ ...fields, more: 1 })).toEqual(fields);
});

it.each(['id', '"id"'])('reads the id of a workflow with and without quotes: %s', async (workflow) => {
  expect(await readAgentFields({ workflow })).toEqual({ workflow: 'id' });
});

it.each([
  ['is not valid JSON', '{', 'invalid-request', 'Invalid JSON format for field: config'],
  ['is nested too deeply', '{"a":'.repeat(100_000), 'invalid-request', 'config is nested deeper than 100 levels.'],
  ['holds too many entries', `{"a":[${'0,'.repeat(JSON_ENTRIES_MAX)}0]}`, 'too-large', /^config holds more than 20000/],
])('refuses a field that %s, before it is parsed', async (_, config, code, message) => {
  const refusal = { code, message: message instanceof RegExp ? (expect.stringMatching(message) as unknown) : message };
  await expect(readAgentFields({ config })).rejects.toMatchObject(refusal);
});
