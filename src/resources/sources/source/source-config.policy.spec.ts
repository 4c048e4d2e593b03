import { describe, expect, it } from '@jest/globals';
import { WEB_CLIENT_CONFIG as FORM } from '../../../../test/support/web-client-form.js';
import {
  CONFIG_CHARACTERS_MAX,
  DEFAULT_SOURCE_CONFIG,
  parseSourceConfig,
  RERANKER_CHARACTERS_MAX,
  sourceConfigIn,
} from './source-config.policy.js';

const { retrieval: RETRIEVAL, chunking: CHUNKING } = DEFAULT_SOURCE_CONFIG;

/** The config that the web client's form sends with these retrieval fields. */
const inForm = (retrieval: object) =>
  parseSourceConfig(JSON.stringify({ ...FORM, retrieval: { ...FORM.retrieval, ...retrieval } }));

it('adds the defaults for missing fields', () => {
  expect(parseSourceConfig(undefined)).toEqual(DEFAULT_SOURCE_CONFIG);
  expect(parseSourceConfig(' ')).toEqual(DEFAULT_SOURCE_CONFIG);
  expect(parseSourceConfig('{"retrieval":{"chunks":3}}').retrieval).toEqual({ ...RETRIEVAL, chunks: 3 });
  expect(parseSourceConfig('{"chunking":{"min_tokens":0}}').chunking).toEqual({ ...CHUNKING, min_tokens: 0 });
});

describe('the form of the web client', () => {
  it.each([2, 6])('is read as the default config if it is unchanged, with %i chunks', (chunks) =>
    expect(inForm({ chunks })).toEqual(DEFAULT_SOURCE_CONFIG),
  );

  it('sets the number of chunks if it is changed', () => {
    expect(inForm({ chunks: 3 }).retrieval.chunks).toBe(3);
    expect(inForm({ rephrase_query: false }).retrieval.chunks).toBe(2);
    expect(parseSourceConfig('{"retrieval":{"chunks":2}}').retrieval.chunks).toBe(2);
  });

  it('is stored with all fields', () => {
    const given = {
      kind: 'graphrag',
      chunking: { strategy: 'semantic', max_tokens: 500, min_tokens: 20, chunk_overlap: 10, duplicate_headers: true },
      retrieval: {
        retriever: 'graphrag',
        exposure: 'agentic_tool',
        chunks: 8,
        score_threshold: 0.35,
        rephrase_query: false,
        reranker: { model: 'cross', top: [1, 2] },
        prescreen: { candidate_k: 50, model: 'small', batch_size: 5, max_keep: 9 },
        graph: { seed_strategy: 'relationships', passage_nodes: false, blend_vector: false },
      },
      graph: { extraction_model: 'gpt-4o', max_chunks: 100, gleanings: 2 },
    };
    expect(parseSourceConfig(JSON.stringify(given))).toEqual(given);
  });

  it('may leave out the settings of prescreen', () =>
    expect(inForm({ prescreen: {} }).retrieval.prescreen).toEqual({ candidate_k: 40, model: null, batch_size: 10, max_keep: 8 }));
});

it('leaves the kind undefined if it is missing', () => {
  expect(sourceConfigIn({}).kind).toBeUndefined();
  expect(sourceConfigIn({ kind: 'wiki' }).kind).toBe('wiki');
});

const padded = (length: number) => JSON.stringify({ graph: {} }).padEnd(length);
const reranker = (length: number) => {
  const empty = JSON.stringify({ model: '' }).length;
  return JSON.stringify({ retrieval: { reranker: { model: 'x'.repeat(length - empty) } } });
};

it('accepts numbers at their limits', () => {
  const { chunking, graph } = parseSourceConfig('{"chunking":{"max_tokens":8000},"graph":{"gleanings":100}}');
  expect([chunking.max_tokens, graph.gleanings]).toEqual([8_000, 100]);
});

it('accepts a config at the limits of length', () => {
  expect(parseSourceConfig(padded(CONFIG_CHARACTERS_MAX))).toEqual(DEFAULT_SOURCE_CONFIG);
  expect(parseSourceConfig(reranker(RERANKER_CHARACTERS_MAX)).retrieval.reranker).not.toBeNull();
});

it.each([
  '{',
  '[]',
  'null',
  '5',
  '{"colour":"red"}',
  '{"__proto__":{"kind":"wiki"}}',
  '{"kind":"notes"}',
  '{"kind":null}',
  '{"chunking":null}',
  '{"chunking":{"strategy":"by-colour"}}',
  '{"chunking":{"max_tokens":"1"}}',
  '{"chunking":{"max_tokens":49}}',
  '{"chunking":{"max_tokens":8001}}',
  '{"chunking":{"min_tokens":2000}}',
  '{"chunking":{"chunk_overlap":-1}}',
  '{"chunking":{"duplicate_headers":"no"}}',
  '{"chunking":{"size":1}}',
  '{"chunking":{"toString":1}}',
  '{"retrieval":[]}',
  '{"retrieval":{"chunks":0}}',
  '{"retrieval":{"chunks":501}}',
  '{"retrieval":{"retriever":"by-colour"}}',
  '{"retrieval":{"rephrase_query":1}}',
  '{"retrieval":{"exposure":"never"}}',
  '{"retrieval":{"score_threshold":"0.5"}}',
  '{"retrieval":{"score_threshold":1e999}}',
  '{"retrieval":{"reranker":"cross"}}',
  reranker(RERANKER_CHARACTERS_MAX + 1),
  `{"retrieval":{"reranker":{"a":${'['.repeat(1_900)}${']'.repeat(1_900)}}}}`,
  '{"retrieval":{"prescreen":true}}',
  '{"retrieval":{"prescreen":{"candidate_k":0}}}',
  '{"retrieval":{"prescreen":{"max_keep":501}}}',
  '{"retrieval":{"prescreen":{"candidate_k":5,"max_keep":6}}}',
  '{"retrieval":{"chunks":41,"prescreen":{}}}',
  '{"retrieval":{"prescreen":{"model":"a\\u0000b"}}}',
  '{"retrieval":{"prescreen":{"keep":1}}}',
  '{"retrieval":{"graph":null}}',
  '{"retrieval":{"graph":{"seed_strategy":"luck"}}}',
  '{"graph":{"gleanings":-1}}',
  '{"graph":{"gleanings":101}}',
  '{"graph":{"max_chunks":0}}',
  `{"graph":{"extraction_model":"${'x'.repeat(256)}"}}`,
  padded(CONFIG_CHARACTERS_MAX + 1),
])('refuses an invalid config with the reason: %.80s', (text) => {
  expect(() => parseSourceConfig(text)).toThrow(
    expect.objectContaining({
      code: 'invalid-request',
      message: expect.stringMatching(/^(Invalid source config: |config is )/) as unknown,
    }),
  );
});

it('refuses a too large config before it is parsed', () => {
  expect(() => parseSourceConfig('['.repeat(CONFIG_CHARACTERS_MAX + 1))).toThrow(`more than ${CONFIG_CHARACTERS_MAX} characters`);
  expect(() => parseSourceConfig('['.repeat(CONFIG_CHARACTERS_MAX))).toThrow('config is nested deeper than 100 levels.');
});
