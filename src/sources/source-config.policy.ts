import { parseBoundedJson } from '../kernel/bounded-json.js';
import { Rejection } from '../kernel/rejection.js';
import { CHUNKS_MAX } from './retrieval.policy.js';

type Strategy = 'classic_chunk';
type Retriever = 'classic' | 'default' | 'hybrid';
type Exposure = 'prefetch' | 'agentic_tool';

/**
 * What an owner decides about a source, in the names clients use. `chunks` null leaves the count to the request. Not every
 * value is accepted yet: one that nothing heeds would be a promise that is not kept.
 */
export type SourceConfig = Readonly<{
  kind: 'classic';
  chunking: Readonly<{ strategy: Strategy; max_tokens: number; min_tokens: number; duplicate_headers: boolean }>;
  retrieval: Readonly<{
    retriever: Retriever;
    exposure: Exposure;
    chunks: number | null;
    score_threshold: number | null;
    rephrase_query: boolean;
  }>;
}>;

export const DEFAULT_SOURCE_CONFIG: SourceConfig = {
  kind: 'classic',
  chunking: { strategy: 'classic_chunk', max_tokens: 1250, min_tokens: 150, duplicate_headers: false },
  retrieval: { retriever: 'classic', exposure: 'prefetch', chunks: null, score_threshold: null, rephrase_query: true },
};

/** Below this a chunk is too small to say anything, above this too large to hand to a model with others. */
const CHUNK_TOKENS_MIN = 50;
const CHUNK_TOKENS_MAX = 8_000;

type Check = (value: unknown) => boolean;

const oneOf =
  (...values: readonly unknown[]): Check =>
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

const CHECKS: Readonly<Record<'chunking' | 'retrieval', Readonly<Record<string, Check>>>> = {
  chunking: {
    strategy: oneOf('classic_chunk'),
    max_tokens: integer(CHUNK_TOKENS_MIN, CHUNK_TOKENS_MAX),
    min_tokens: integer(0, CHUNK_TOKENS_MAX),
    duplicate_headers: oneOf(false),
  },
  retrieval: {
    retriever: oneOf('classic', 'default', 'hybrid'),
    exposure: oneOf('prefetch'),
    chunks: orNull(integer(1, CHUNKS_MAX)),
    score_threshold: oneOf(null),
    rephrase_query: isBoolean,
  },
};

/** The JSON text of a form field, completed by the defaults. @throws Rejection `invalid-request` on anything unknown */
export function parseSourceConfig(text: string | undefined): SourceConfig {
  if (text === undefined || text.trim() === '') return DEFAULT_SOURCE_CONFIG;
  let given: unknown;
  try {
    given = parseBoundedJson(text, 'config');
  } catch (error) {
    throw error instanceof SyntaxError ? invalid('it is not JSON') : error;
  }
  if (!isRecord(given)) throw invalid('it is not an object');
  const { kind = 'classic', chunking = {}, retrieval = {}, ...unknown } = given;
  const [stranger] = Object.keys(unknown);
  if (stranger !== undefined) throw invalid(`${stranger} is not known`);
  if (kind !== 'classic') throw invalid('kind must be classic');
  const config = {
    kind: 'classic' as const,
    chunking: { ...DEFAULT_SOURCE_CONFIG.chunking, ...checked('chunking', chunking) },
    retrieval: { ...DEFAULT_SOURCE_CONFIG.retrieval, ...checked('retrieval', retrieval) },
  };
  if (config.chunking.min_tokens > config.chunking.max_tokens) throw invalid('chunking.min_tokens is above chunking.max_tokens');
  return config;
}

function checked(block: 'chunking' | 'retrieval', given: unknown): Readonly<Record<string, unknown>> {
  if (!isRecord(given)) throw invalid(`${block} is not an object`);
  for (const [field, value] of Object.entries(given)) {
    const check = Object.hasOwn(CHECKS[block], field) ? CHECKS[block][field] : undefined;
    if (!check) throw invalid(`${block}.${field} is not known`);
    if (!check(value)) throw invalid(`${block}.${field} is not valid`);
  }
  return given;
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const invalid = (why: string): Rejection => new Rejection('invalid-request', `Invalid source config: ${why}.`);
