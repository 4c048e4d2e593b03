import { parseBoundedJson } from '../../../kernel/bounded-json.js';
import { Rejection } from '../../../kernel/rejection.js';
import { CHUNKS_MAX } from './retrieval.policy.js';
import { storableText } from '../../documents/storable-text.policy.js';
import { isJsonObject } from '../../json-object.policy.js';

const KINDS = ['classic', 'wiki', 'graphrag'] as const;
const STRATEGIES = ['classic_chunk', 'recursive', 'markdown', 'parent_child', 'semantic'] as const;
const RETRIEVERS = ['classic', 'default', 'hybrid', 'graphrag'] as const;
const EXPOSURES = ['prefetch', 'agentic_tool'] as const;
const SEED_STRATEGIES = ['entities', 'relationships'] as const;

type SourceKind = (typeof KINDS)[number];

/** Settings of a step in which a model reads candidates in batches and keeps some. */
type Prescreen = Readonly<{ candidate_k: number; model: string | null; batch_size: number; max_keep: number }>;

/**
 * The config of a source, in the shape that clients use. `chunks` null leaves the count to the request. Fields without effect are
 * stored too, because clients send every field and show what they have sent.
 */
export type SourceConfig = Readonly<{
  kind: SourceKind;
  chunking: Readonly<{
    strategy: (typeof STRATEGIES)[number];
    max_tokens: number;
    min_tokens: number;
    chunk_overlap: number;
    duplicate_headers: boolean;
  }>;
  retrieval: Readonly<{
    retriever: (typeof RETRIEVERS)[number];
    exposure: (typeof EXPOSURES)[number];
    chunks: number | null;
    score_threshold: number | null;
    rephrase_query: boolean;
    reranker: Readonly<Record<string, unknown>> | null;
    prescreen: Prescreen | null;
    graph: Readonly<{ seed_strategy: (typeof SEED_STRATEGIES)[number]; passage_nodes: boolean; blend_vector: boolean }>;
  }>;
  graph: Readonly<{ extraction_model: string | null; max_chunks: number | null; gleanings: number }>;
}>;

export const DEFAULT_SOURCE_CONFIG: SourceConfig = {
  kind: 'classic',
  chunking: { strategy: 'classic_chunk', max_tokens: 1250, min_tokens: 150, chunk_overlap: 0, duplicate_headers: false },
  retrieval: {
    retriever: 'classic',
    exposure: 'prefetch',
    chunks: null,
    score_threshold: null,
    rephrase_query: true,
    reranker: null,
    prescreen: null,
    graph: { seed_strategy: 'entities', passage_nodes: true, blend_vector: true },
  },
  graph: { extraction_model: null, max_chunks: null, gleanings: 0 },
};

const DEFAULT_PRESCREEN: Prescreen = { candidate_k: 40, model: null, batch_size: 10, max_keep: 8 };

/** A config from a client. If `kind` is undefined, the source keeps its kind. */
export type GivenSourceConfig = Omit<SourceConfig, 'kind'> & Readonly<{ kind: SourceKind | undefined }>;

/** Several times the size of a config with every field. */
export const CONFIG_CHARACTERS_MAX = 4_096;

/** Limits the only field of free form, and so its nesting depth, which recursive code has to survive. */
export const RERANKER_CHARACTERS_MAX = 1_000;

const MODEL_CHARACTERS_MAX = 255;
const GLEANINGS_MAX = 100;

/** A smaller chunk has too little content, and a larger one leaves a model no room for others. */
const CHUNK_TOKENS_MIN = 50;
const CHUNK_TOKENS_MAX = 8_000;

type Check = (value: unknown) => boolean;
type Block = Readonly<Record<string, unknown>>;

const oneOf =
  (values: readonly unknown[]): Check =>
  (value) =>
    values.includes(value);
const integer =
  (min: number, max: number): Check =>
  (value) =>
    Number.isInteger(value) && (value as number) >= min && (value as number) <= max;
const orNull =
  (check: Check): Check =>
  (value) =>
    value === null || check(value);
const isBoolean: Check = (value) => typeof value === 'boolean';
const isModel: Check = (value) =>
  typeof value === 'string' && value.length <= MODEL_CHARACTERS_MAX && storableText(value) === value;
const isReranker: Check = (value) => isJsonObject(value) && JSON.stringify(value).length <= RERANKER_CHARACTERS_MAX;

/** The checks of the fields. Nested blocks have an entry of their own. */
const CHECKS = {
  chunking: {
    strategy: oneOf(STRATEGIES),
    max_tokens: integer(CHUNK_TOKENS_MIN, CHUNK_TOKENS_MAX),
    min_tokens: integer(0, CHUNK_TOKENS_MAX),
    chunk_overlap: integer(0, CHUNK_TOKENS_MAX),
    duplicate_headers: isBoolean,
  },
  retrieval: {
    retriever: oneOf(RETRIEVERS),
    exposure: oneOf(EXPOSURES),
    chunks: orNull(integer(1, CHUNKS_MAX)),
    score_threshold: orNull(Number.isFinite),
    rephrase_query: isBoolean,
    reranker: orNull(isReranker),
    prescreen: orNull(isJsonObject),
    graph: isJsonObject,
  },
  'retrieval.prescreen': {
    candidate_k: integer(1, CHUNKS_MAX),
    model: orNull(isModel),
    batch_size: integer(1, CHUNKS_MAX),
    max_keep: integer(1, CHUNKS_MAX),
  },
  'retrieval.graph': { seed_strategy: oneOf(SEED_STRATEGIES), passage_nodes: isBoolean, blend_vector: isBoolean },
  graph: {
    extraction_model: orNull(isModel),
    max_chunks: orNull(integer(1, Number.MAX_SAFE_INTEGER)),
    gleanings: integer(0, GLEANINGS_MAX),
  },
} satisfies Readonly<Record<string, Readonly<Record<string, Check>>>>;

/** Parses the JSON of a form field and adds the defaults. @throws Rejection `invalid-request`, also for an unknown field */
export function parseSourceConfig(text: string | undefined): SourceConfig {
  if (text === undefined || text.trim() === '') return DEFAULT_SOURCE_CONFIG;
  if (text.length > CONFIG_CHARACTERS_MAX) throw tooLong();
  let given: unknown;
  try {
    given = parseBoundedJson(text, 'config');
  } catch (error) {
    throw error instanceof SyntaxError ? invalid('it is not JSON') : error;
  }
  const config = sourceConfigIn(given);
  return { ...config, kind: config.kind ?? DEFAULT_SOURCE_CONFIG.kind };
}

/** Validates a config and adds the defaults. @throws Rejection `invalid-request`, also for an unknown field */
export function sourceConfigIn(given: unknown): GivenSourceConfig {
  if (!isJsonObject(given)) throw invalid('it is not an object');
  if (JSON.stringify(given).length > CONFIG_CHARACTERS_MAX) throw tooLong();
  const { kind, chunking = {}, retrieval = {}, graph = {}, ...unknown } = given;
  const [stranger] = Object.keys(unknown);
  if (stranger !== undefined) throw invalid(`${stranger} is not known`);
  if (kind !== undefined && !oneOf(KINDS)(kind)) throw invalid(`kind must be one of ${KINDS.join(', ')}`);
  const config: GivenSourceConfig = {
    kind: kind as SourceKind | undefined,
    chunking: { ...DEFAULT_SOURCE_CONFIG.chunking, ...checked('chunking', chunking) },
    retrieval: retrievalIn(checked('retrieval', retrieval)),
    graph: { ...DEFAULT_SOURCE_CONFIG.graph, ...checked('graph', graph) },
  };
  checkTogether(config);
  return config;
}

function retrievalIn(given: Block): SourceConfig['retrieval'] {
  const defaults = DEFAULT_SOURCE_CONFIG.retrieval;
  const prescreen = given['prescreen'] ? { ...DEFAULT_PRESCREEN, ...checked('retrieval.prescreen', given['prescreen']) } : null;
  const graph = { ...defaults.graph, ...checked('retrieval.graph', given['graph'] ?? {}) };
  const retrieval = { ...defaults, ...given, prescreen, graph };
  return isLeftAlone(given, retrieval) ? { ...retrieval, chunks: null } : retrieval;
}

/** The initial chunk counts in the forms of older and newer clients. */
const CHUNKS_OF_FORMS: readonly unknown[] = [2, 6];
const FIELDS_OF_FORMS = ['retriever', 'exposure', 'chunks', 'score_threshold', 'rephrase_query'];

/** Whether the client sent an unchanged form: all its fields, with their initial values. */
function isLeftAlone(given: Block, { chunks, ...others }: SourceConfig['retrieval']): boolean {
  const untouched = { ...DEFAULT_SOURCE_CONFIG.retrieval, chunks };
  return (
    FIELDS_OF_FORMS.every((field) => field in given) &&
    CHUNKS_OF_FORMS.includes(chunks) &&
    JSON.stringify({ ...untouched, ...others }) === JSON.stringify(untouched)
  );
}

function checkTogether({ chunking, retrieval: { chunks, prescreen } }: GivenSourceConfig): void {
  if (chunking.min_tokens > chunking.max_tokens) throw invalid('chunking.min_tokens is above chunking.max_tokens');
  if (!prescreen) return;
  const { candidate_k: candidates, max_keep: kept } = prescreen;
  if (kept > candidates) throw invalid('retrieval.prescreen.max_keep is above retrieval.prescreen.candidate_k');
  if (chunks !== null && candidates < chunks) throw invalid('retrieval.prescreen.candidate_k is below retrieval.chunks');
}

function checked(block: keyof typeof CHECKS, given: unknown): Block {
  if (!isJsonObject(given)) throw invalid(`${block} is not an object`);
  const checks: Readonly<Record<string, Check>> = CHECKS[block];
  for (const [field, value] of Object.entries(given)) {
    const check = Object.hasOwn(checks, field) ? checks[field] : undefined;
    if (!check) throw invalid(`${block}.${field} is not known`);
    if (!check(value)) throw invalid(`${block}.${field} is not valid`);
  }
  return given;
}

const invalid = (why: string): Rejection => new Rejection('invalid-request', `Invalid source config: ${why}.`);
const tooLong = (): Rejection => invalid(`it has more than ${CONFIG_CHARACTERS_MAX} characters`);
