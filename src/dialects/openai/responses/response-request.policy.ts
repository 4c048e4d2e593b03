import { Rejection } from '../../../kernel/rejection.js';
import { formatIn } from '../asking/answer-format.policy.js';
import { functionOf } from '../asking/functions.policy.js';
import { modelNamed } from '../asking/model-name.policy.js';
import { isAbsent, ONLY_VALUES, type OnlyValues, refused, refuseUnread } from '../asking/refusals.policy.js';
import { type Input, inputOf } from './input.policy.js';
import type { ResponseEcho } from './response.events.js';
import { isJsonObject, type JsonObject } from '../../../resources/json-object.policy.js';
import { isLongerThan } from '../../../resources/text-length.policy.js';

/** The parts of a request for a response that the service uses. */
export type ResponseRequest = Input &
  Readonly<{
    echo: ResponseEcho;
    /** Undefined: the agent's own model. */
    modelId: string | undefined;
    tools: readonly JsonObject[];
    /** The schema that the answer must match. */
    schema: JsonObject | undefined;
    sampling: JsonObject;
    stream: boolean;
    store: boolean;
    /** The body of the request. */
    body: object;
  }>;

export const METADATA_PAIRS_MAX = 16;
export const METADATA_KEY_CHARACTERS_MAX = 64;
export const METADATA_VALUE_CHARACTERS_MAX = 512;
/** The maximum size of the JSON that is stored of a request in addition to its journal. */
export const KEPT_BYTES_MAX = 512 * 1024;

const READ = [
  ...['background', 'include', 'input', 'instructions', 'max_output_tokens', 'metadata', 'model', 'previous_response_id'],
  ...['reasoning', 'store', 'stream', 'stream_options', 'temperature', 'text', 'tools', 'top_p'],
];

const ONLY: OnlyValues = { ...ONLY_VALUES, truncation: (value) => value === 'auto' };

/**
 * `agentId`: the agent whose key was sent. As a model, it means the agent's own model. @throws Rejection invalid-request, which
 * names the field
 */
export function responseRequestOf(body: unknown, agentId: string): ResponseRequest {
  if (!isJsonObject(body)) throw new Rejection('invalid-request', 'The request body must be a JSON object.');
  refuseUnread(body, READ, ONLY);
  const flag = (field: string, missing: boolean) => optional(body, field, isBoolean, 'must be a boolean.') ?? missing;
  const text = (field: string) => optional(body, field, isString, 'must be a string.');
  const number = (field: string) => optional(body, field, isNumber, 'must be a number.');
  const [model, instructions] = [text('model'), text('instructions')];
  const modelId = modelNamed(model, agentId);
  const [temperature, topP, maxTokens] = [number('temperature'), number('top_p'), number('max_output_tokens')];
  const [stream, store, background] = [flag('stream', false), flag('store', true), flag('background', false)];
  if (background && !store) throw refused('background', 'needs a response that is stored: store must not be false.');
  refuseStreamOptions(body['stream_options']);
  const input = inputOf(body['input'], instructions);
  const { format, schema } = textIn(body['text']);
  const functions = functionsOf(body['tools']);
  const request: ResponseRequest = {
    ...input,
    ignored: [...ignoredOf(body), ...functions.flatMap(({ ignored }) => ignored), ...input.ignored],
    echo: {
      background,
      instructions,
      max_output_tokens: maxTokens,
      metadata: metadataOf(body['metadata']),
      model: modelId ?? agentId,
      previous_response_id: text('previous_response_id'),
      temperature,
      text: { format },
      tools: functions.map(({ shown }) => shown),
      top_p: topP,
    },
    modelId,
    tools: functions.map(({ declared }) => declared),
    schema,
    sampling: {
      ...(temperature !== null && { temperature }),
      ...(topP !== null && { top_p: topP }),
      ...(maxTokens !== null && { max_tokens: maxTokens }),
    },
    stream,
    store,
    body,
  };
  if (store && Buffer.byteLength(JSON.stringify([request.echo, request.items])) > KEPT_BYTES_MAX)
    throw new Rejection('too-large', `A response is kept with at most ${KEPT_BYTES_MAX} bytes of what was asked.`);
  return request;
}

const isBoolean = (value: unknown): value is boolean => typeof value === 'boolean';
const isString = (value: unknown): value is string => typeof value === 'string';
const isNumber = (value: unknown): value is number => typeof value === 'number';

function optional<T>(body: JsonObject, field: string, is: (value: unknown) => value is T, why: string): T | null {
  const value = body[field];
  if (isAbsent(value)) return null;
  if (!is(value)) throw refused(field, why);
  return value;
}

/**
 * The ignored fields, which many clients send with every request. The agent sets the reasoning effort, and reasoning is not
 * encrypted.
 */
function ignoredOf({ reasoning, include, text }: JsonObject): readonly string[] {
  if (!isAbsent(reasoning) && !isJsonObject(reasoning)) throw refused('reasoning', 'must be an object.');
  if (!isAbsent(include) && !Array.isArray(include)) throw refused('include', 'must be an array.');
  const named = (include ?? []) as readonly unknown[];
  const other = named.findIndex((value) => value !== 'reasoning.encrypted_content');
  if (other >= 0) throw refused(`include[${other}]`, `${String(named[other])} is not supported.`);
  const isVerbose = isJsonObject(text) && !isAbsent(text['verbosity']);
  return [
    ...(isAbsent(reasoning) ? [] : ['reasoning']),
    ...(named.length > 0 ? ['include'] : []),
    ...(isVerbose ? ['text.verbosity'] : []),
  ];
}

/** Accepts only `include_obfuscation: false`, because streams are not obfuscated. */
function refuseStreamOptions(options: unknown): void {
  if (isAbsent(options)) return;
  if (!isJsonObject(options)) throw refused('stream_options', 'must be an object.');
  for (const [option, value] of Object.entries(options)) {
    if (!isAbsent(value) && !(option === 'include_obfuscation' && value === false))
      throw refused(`stream_options.${option}`, 'is not supported, or not with this value.');
  }
}

function textIn(text: unknown): Readonly<{ format: JsonObject; schema: JsonObject | undefined }> {
  if (isAbsent(text)) return { format: { type: 'text' }, schema: undefined };
  if (!isJsonObject(text)) throw refused('text', 'must be an object.');
  for (const [field, value] of Object.entries(text))
    if (field !== 'format' && field !== 'verbosity' && !isAbsent(value)) throw refused(`text.${field}`, 'is not supported.');
  const { format } = text;
  if (isAbsent(format)) return { format: { type: 'text' }, schema: undefined };
  return { schema: formatIn(format, 'text.format'), format: format as JsonObject };
}

function metadataOf(metadata: unknown): Readonly<Record<string, string>> {
  if (isAbsent(metadata)) return {};
  if (!isJsonObject(metadata)) throw refused('metadata', 'must be an object.');
  const pairs = Object.entries(metadata);
  if (pairs.length > METADATA_PAIRS_MAX) throw refused('metadata', `may have at most ${METADATA_PAIRS_MAX} pairs.`);
  for (const [key, value] of pairs) {
    if (isLongerThan(key, METADATA_KEY_CHARACTERS_MAX))
      throw refused('metadata', `may have keys of at most ${METADATA_KEY_CHARACTERS_MAX} characters.`);
    if (typeof value !== 'string' || isLongerThan(value, METADATA_VALUE_CHARACTERS_MAX))
      throw refused(`metadata.${key}`, `must be a string of at most ${METADATA_VALUE_CHARACTERS_MAX} characters.`);
  }
  return metadata as Readonly<Record<string, string>>;
}

function functionsOf(tools: unknown) {
  if (isAbsent(tools)) return [];
  if (!Array.isArray(tools)) throw refused('tools', 'must be an array.');
  return tools.map((tool: unknown, index) => {
    const place = `tools[${index}]`;
    if (!isJsonObject(tool)) throw refused(place, 'must be an object.');
    if (tool['type'] !== 'function')
      throw refused(`${place}.type`, `${String(tool['type'])} is not supported: tools are functions of the caller.`);
    const { declared, ignored } = functionOf(tool, place);
    const shown = { type: 'function', description: null, parameters: null, ...declared, strict: false };
    return { declared, ignored, shown };
  });
}
