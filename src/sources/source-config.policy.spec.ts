import { expect, it } from '@jest/globals';
import { JSON_ENTRIES_MAX } from '../kernel/bounded-json.js';
import { DEFAULT_SOURCE_CONFIG, parseSourceConfig } from './source-config.policy.js';

it('what is not said is as usual', () => {
  expect(parseSourceConfig(undefined)).toEqual(DEFAULT_SOURCE_CONFIG);
  expect(parseSourceConfig('{"retrieval":{"chunks":3}}').retrieval).toEqual({ ...DEFAULT_SOURCE_CONFIG.retrieval, chunks: 3 });
});

it.each([
  '{',
  '[]',
  'null',
  '5',
  '{"colour":"red"}',
  '{"kind":"wiki"}',
  '{"chunking":null}',
  '{"chunking":{"max_tokens":"1"}}',
  '{"chunking":{"max_tokens":49}}',
  '{"chunking":{"min_tokens":2000}}',
  '{"chunking":{"size":1}}',
  '{"chunking":{"toString":1}}',
  '{"retrieval":{"chunks":0}}',
  '{"retrieval":{"chunks":501}}',
  '{"retrieval":{"rephrase_query":1}}',
  '{"retrieval":{"exposure":"agentic_tool"}}',
  '{"retrieval":{"score_threshold":0.5}}',
])('refused with a word about what is wrong: %s', (text) => {
  expect(() => parseSourceConfig(text)).toThrow(
    expect.objectContaining({ code: 'invalid-request', message: expect.stringMatching(/^Invalid source config: /) as unknown }),
  );
});

it('more than anybody configures is refused before it is parsed', () => {
  expect(() => parseSourceConfig(`{"a":[${'0,'.repeat(JSON_ENTRIES_MAX)}`)).toThrow(
    expect.objectContaining({ code: 'too-large' }),
  );
  expect(() => parseSourceConfig('['.repeat(1_000_000))).toThrow('config is nested deeper than 100 levels.');
});
