/** The `config` that the web client sends with every source: its whole form with default values. */
export const WEB_CLIENT_CONFIG = {
  kind: 'classic',
  chunking: { strategy: 'classic_chunk', max_tokens: 1250, min_tokens: 150, duplicate_headers: false },
  retrieval: {
    retriever: 'classic',
    exposure: 'prefetch',
    chunks: 2,
    score_threshold: null,
    rephrase_query: true,
    prescreen: null,
  },
  graph: { extraction_model: null, max_chunks: null, gleanings: 0 },
};
