const text = { type: 'string', nullable: true } as const;
const count = (more: object) => ({ type: 'integer', ...more });

/** The `config` of a source in requests and replies. Fields that are left out have their default. */
export const SOURCE_CONFIG_SCHEMA = {
  type: 'object',
  additionalProperties: false,
  description: 'How a source is cut into chunks and searched. Fields without effect here are stored and named in `warnings`.',
  properties: {
    kind: { type: 'string', enum: ['classic', 'wiki', 'graphrag'], default: 'classic' },
    chunking: {
      type: 'object',
      additionalProperties: false,
      description: 'Used by the next ingestion.',
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
      description: 'Used by the next search.',
      properties: {
        retriever: { type: 'string', enum: ['classic', 'default', 'hybrid', 'graphrag'], default: 'classic' },
        exposure: { type: 'string', enum: ['prefetch', 'agentic_tool'], default: 'prefetch' },
        chunks: count({
          minimum: 1,
          maximum: 500,
          nullable: true,
          description:
            'The number of chunks that a question gets from this source. Null leaves it to the question or its agent. So do 2 and 6 if all other fields of a client’s form have their defaults.',
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
    'JSON of at most 4,096 characters, as for `PATCH /api/sources/{id}/config`: how the source is cut into chunks and searched.',
};

const WARNINGS = { type: 'array', items: { type: 'string' }, description: 'The fields of `config` that have no effect here.' };

const answer = (more: Readonly<Record<string, object>>) => ({
  schema: { type: 'object', properties: { success: { type: 'boolean' }, ...more, warnings: WARNINGS } },
});

export const SOURCE_ADDED = answer({
  status: { type: 'string', description: 'Always `ok`, for older clients.' },
  task_id: { type: 'string', description: 'The task of the ingestion, for `GET /api/task_status`.' },
  source_id: { type: 'string' },
});

export const SOURCE_INGESTED_AGAIN = answer({
  task_id: { type: 'string', description: 'The task of the ingestion, for `GET /api/task_status`.' },
});

export const SOURCE_CONFIGURED = answer({
  config: SOURCE_CONFIG_SCHEMA,
  requires_reingest: {
    type: 'boolean',
    description: 'Whether the current chunks do not match the config. `POST /api/sources/reingest` cuts them anew.',
  },
});
