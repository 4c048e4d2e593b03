import { expect, it } from '@jest/globals';
import { DEFAULT_SOURCE_CONFIG, parseSourceConfig } from './source-config.policy.js';
import { warningsAbout } from './source-config-warnings.policy.js';

const EVERYTHING = { hasEmbeddings: true };
const fieldsIn = (given: object, abilities = EVERYTHING) =>
  warningsAbout(parseSourceConfig(JSON.stringify(given)), abilities).map((warning) => /^\S+/.exec(warning)![0]);

it('default values and fields with an effect give no warning', () => {
  expect(warningsAbout(DEFAULT_SOURCE_CONFIG, EVERYTHING)).toEqual([]);
  expect(fieldsIn(DEFAULT_SOURCE_CONFIG)).toEqual([]);
  expect(fieldsIn({ chunking: { max_tokens: 500, min_tokens: 0 }, retrieval: { chunks: 9, retriever: 'hybrid' } })).toEqual([]);
});

it.each([
  ['kind', { kind: 'wiki' }],
  ['kind', { kind: 'graphrag' }],
  ['chunking.strategy', { chunking: { strategy: 'semantic' } }],
  ['chunking.chunk_overlap', { chunking: { chunk_overlap: 20 } }],
  ['chunking.duplicate_headers', { chunking: { duplicate_headers: true } }],
  ['retrieval.retriever', { retrieval: { retriever: 'graphrag' } }],
  ['retrieval.exposure', { retrieval: { exposure: 'agentic_tool' } }],
  ['retrieval.score_threshold', { retrieval: { score_threshold: 0.5 } }],
  ['retrieval.reranker', { retrieval: { reranker: { model: 'cross' } } }],
  ['retrieval.prescreen', { retrieval: { prescreen: {} } }],
  ['retrieval.graph', { retrieval: { graph: { passage_nodes: false } } }],
  ['graph', { graph: { gleanings: 1 } }],
])('a value of %s without effect gives a warning: %j', (field, given) => expect(fieldsIn(given)).toEqual([field]));

it('a hybrid search without embeddings gives a warning', () =>
  expect(fieldsIn({ retrieval: { retriever: 'hybrid' } }, { hasEmbeddings: false })).toEqual(['retrieval.retriever']));

it('rephrase_query false gives no warning, because questions are never rephrased', () =>
  expect(fieldsIn({ retrieval: { rephrase_query: false } })).toEqual([]));
