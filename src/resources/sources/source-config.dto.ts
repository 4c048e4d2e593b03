const text = { type: 'string', nullable: true } as const;
const count = (more: object) => ({ type: 'integer', ...more });

/** The `config` of a source in requests and replies. Fields that are left out have their default. */
export const SOURCE_CONFIG_SCHEMA = {
  type: 'object',
  additionalProperties: false,
  description: 'How a source is cut into chunks and searched. What has no effect here is kept, and named in `warnings`.',
  properties: {
    kind: { type: 'string', enum: ['classic', 'wiki', 'graphrag'], default: 'classic' },
    chunking: {
      type: 'object',
      additionalProperties: false,
      description: 'Heeded by the next ingestion.',
      properties: {
        strategy: {
          type: 'string',
          enum: ['classic_chunk', 'recursive', 'markdown', 'parent_child', 'semantic'],
          default: 'classic_chunk',
        },
        max_tokens: count({ minimum: 50, maximum: 8_000, default: 1_250 }),
        min_tokens: count({ minimum: 0, maximum: 8_000, default: 150 }),
        chunk_overlap: count({ minimum: 0, maximum: 8_000, default: 0 }),
        duplicate_headers: { type: 'boolean', default: false },
      },
    },
    retrieval: {
      type: 'object',
      additionalProperties: false,
      description: 'Heeded by the next search.',
      properties: {
        retriever: { type: 'string', enum: ['classic', 'default', 'hybrid', 'graphrag'], default: 'classic' },
        exposure: { type: 'string', enum: ['prefetch', 'agentic_tool'], default: 'prefetch' },
        chunks: count({
          minimum: 1,
          maximum: 500,
          nullable: true,
          description:
            'How many chunks a question gets from this source; null leaves it to the question or its agent, and so do 2 and 6 where all other fields of a client’s form come as they are by default.',
        }),
        score_threshold: { type: 'number', nullable: true },
        rephrase_query: { type: 'boolean', default: true },
        reranker: {
          type: 'object',
          nullable: true,
          additionalProperties: true,
          description: 'At most 1,000 characters of JSON.',
        },
        prescreen: {
          type: 'object',
          nullable: true,
          additionalProperties: false,
          properties: {
            candidate_k: count({ minimum: 1, maximum: 500, default: 40 }),
            model: text,
            batch_size: count({ minimum: 1, maximum: 500, default: 10 }),
            max_keep: count({ minimum: 1, maximum: 500, default: 8 }),
          },
        },
        graph: {
          type: 'object',
          additionalProperties: false,
          properties: {
            seed_strategy: { type: 'string', enum: ['entities', 'relationships'], default: 'entities' },
            passage_nodes: { type: 'boolean', default: true },
            blend_vector: { type: 'boolean', default: true },
          },
        },
      },
    },
    graph: {
      type: 'object',
      additionalProperties: false,
      properties: {
        extraction_model: text,
        max_chunks: count({ minimum: 1, nullable: true }),
        gleanings: count({ minimum: 0, maximum: 100, default: 0 }),
      },
    },
  },
};

/** The form field that holds the config. */
export const CONFIG_FIELD = {
  type: 'string',
  description:
    'JSON of at most 4,096 characters, as `PATCH /api/sources/{id}/config` takes it: how the source is cut into chunks and searched.',
};

const WARNINGS = { type: 'array', items: { type: 'string' }, description: 'The fields of `config` that have no effect here.' };

const answer = (more: Readonly<Record<string, object>>) => ({
  schema: { type: 'object', properties: { success: { type: 'boolean' }, ...more, warnings: WARNINGS } },
});

export const SOURCE_ADDED = answer({
  status: { type: 'string', description: '`ok`, as older clients read it.' },
  task_id: { type: 'string', description: 'The ingestion, for `GET /api/task_status`.' },
  source_id: { type: 'string' },
});

export const SOURCE_INGESTED_AGAIN = answer({ task_id: { type: 'string', description: 'For `GET /api/task_status`.' } });

export const SOURCE_CONFIGURED = answer({
  config: SOURCE_CONFIG_SCHEMA,
  requires_reingest: {
    type: 'boolean',
    description: 'What is searched is still cut otherwise; `POST /api/sources/reingest` cuts it anew.',
  },
});
