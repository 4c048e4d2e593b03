import { Rejection } from '../../kernel/rejection.js';
import { formatIn, schemaIn } from './asking/answer-format.policy.js';
import { type CallersFunction, functionOf } from './asking/functions.policy.js';
import { saidIn, type Contents } from './asking/messages.policy.js';
import { modelNamed } from './asking/model-name.policy.js';
import { type AttachedPart, uploaded } from './asking/parts.policy.js';
import { isAbsent, ONLY_VALUES, type OnlyValues, refused, refuseUnread } from './asking/refusals.policy.js';
import { isJsonObject } from '../../resources/json-object.policy.js';

/** The parts of a request for a completion that the service uses. */
export type ChatRequest = Contents &
  Readonly<{
    conversationId: string | undefined;
    /** Undefined: the agent's own model. */
    modelId: string | undefined;
    tools: readonly Readonly<Record<string, unknown>>[];
    /** The schema that the answer must match. */
    schema: Readonly<Record<string, unknown>> | undefined;
    /** The field that holds the schema. */
    schemaField: (typeof SCHEMA_FIELDS)[number];
    sampling: Readonly<Record<string, unknown>>;
    stream: boolean;
    includesUsage: boolean;
    /** The body of the request. */
    body: object;
  }>;

const SAMPLING = ['temperature', 'top_p', 'frequency_penalty', 'presence_penalty', 'seed', 'stop', 'max_tokens'];
/** Accepted and ignored, because most clients send some of these with every request. */
const IGNORED = ['reasoning_effort', 'verbosity'];
/** The fields that may hold the schema of the answer. The first one that a request has counts. */
const SCHEMA_FIELDS = ['response_schema', 'response_format'] as const;
const READ = [
  ...['messages', 'model', 'tools', 'stream', 'stream_options', 'conversation_id', 'docsgpt', ...SCHEMA_FIELDS],
  ...[...SAMPLING, 'max_completion_tokens', ...IGNORED],
];

const isEmpty = (value: unknown): boolean => isJsonObject(value) && Object.keys(value).length === 0;
const ONLY: OnlyValues = {
  ...ONLY_VALUES,
  logit_bias: isEmpty,
  logprobs: (value) => value === false,
  metadata: isEmpty,
  modalities: (value) => Array.isArray(value) && value.every((kind) => kind === 'text'),
  n: (value) => value === 1,
  store: (value) => value === false,
};

/**
 * `agentId`: the agent whose key was sent. As a model, it means the agent's own model. @throws Rejection invalid-request, which
 * names the field
 */
export function chatRequestOf(body: unknown, agentId: string): ChatRequest {
  if (!isJsonObject(body)) throw new Rejection('invalid-request', 'The request body must be a JSON object.');
  refuseUnread(body, READ, ONLY);
  const { model, tools, stream, stream_options: options } = body;
  if (!isAbsent(model) && typeof model !== 'string') throw refused('model', 'must be a string.');
  if (!isAbsent(stream) && typeof stream !== 'boolean') throw refused('stream', 'must be a boolean.');
  const contents = saidIn(body['messages']);
  const extension = extensionIn(body['docsgpt']);
  const isQuestion = contents.said.kind === 'question';
  const functions = isAbsent(tools) ? [] : functionsOf(tools);
  return {
    ...contents,
    said: isQuestion ? { ...contents.said, attached: [...contents.said.attached, ...extension.attached] } : contents.said,
    ignored: [
      ...IGNORED.filter((field) => !isAbsent(body[field])),
      ...functions.flatMap(({ ignored }) => ignored),
      ...contents.ignored,
      ...(!isQuestion && extension.attached.length > 0 ? ['docsgpt.attachments'] : []),
      ...extension.ignored,
    ],
    conversationId: idIn(body['conversation_id'], 'conversation_id') || extension.conversationId,
    modelId: modelNamed(model, agentId),
    tools: functions.map(({ declared }) => declared),
    ...schemaOf(body),
    sampling: samplingIn(body),
    stream: stream ?? false,
    includesUsage: includesUsage(options),
    body,
  };
}

function schemaOf(body: Readonly<Record<string, unknown>>): Pick<ChatRequest, 'schema' | 'schemaField'> {
  const schemaField = SCHEMA_FIELDS.find((field) => !isAbsent(body[field])) ?? 'response_format';
  const given = body[schemaField];
  if (schemaField === 'response_schema') return { schema: schemaIn(given, schemaField), schemaField };
  return { schema: isAbsent(given) ? undefined : formatIn(given, schemaField, 'json_schema'), schemaField };
}

function samplingIn(body: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const { max_completion_tokens: newer } = body;
  const named = SAMPLING.filter((field) => !isAbsent(body[field])).map((field) => [field, body[field]] as const);
  return { ...Object.fromEntries(named), ...(!isAbsent(newer) && { max_tokens: newer }) };
}

type Extension = Readonly<{
  conversationId: string | undefined;
  attached: readonly AttachedPart[];
  ignored: readonly string[];
}>;

/**
 * The data in `docsgpt`, for clients that know this service. Every conversation is stored, so `persist` has no effect if it is
 * false, and `save_conversation` never has one.
 */
function extensionIn(docsgpt: unknown): Extension {
  if (isAbsent(docsgpt)) return { conversationId: undefined, attached: [], ignored: [] };
  if (!isJsonObject(docsgpt)) throw refused('docsgpt', 'must be an object.');
  const { conversation_id: id, attachments, persist, save_conversation: _, ...others } = docsgpt;
  if (!isAbsent(attachments) && !Array.isArray(attachments)) throw refused('docsgpt.attachments', 'must be an array.');
  const ids = (attachments ?? []) as readonly unknown[];
  return {
    conversationId: idIn(id, 'docsgpt.conversation_id'),
    attached: ids.map((each, index) => uploaded(each, `docsgpt.attachments[${index}]`)),
    ignored: [...(persist === false ? ['persist'] : []), ...Object.keys(others)].map((field) => `docsgpt.${field}`),
  };
}

function idIn(id: unknown, param: string): string | undefined {
  if (!isAbsent(id) && typeof id !== 'string') throw refused(param, 'must be a string.');
  return id || undefined;
}

function functionsOf(tools: unknown): readonly CallersFunction[] {
  if (!Array.isArray(tools)) throw refused('tools', 'must be an array.');
  return tools.map((tool: unknown, index) => {
    const place = `tools[${index}]`;
    const declared = isJsonObject(tool) && tool['type'] === 'function' ? tool['function'] : undefined;
    if (!isJsonObject(declared)) throw refused(place, 'must be of the type function.');
    return functionOf(declared, `${place}.function`);
  });
}

function includesUsage(options: unknown): boolean {
  if (isAbsent(options)) return false;
  if (!isJsonObject(options)) throw refused('stream_options', 'must be an object.');
  for (const [option, value] of Object.entries(options)) {
    if (option === 'include_usage' || isAbsent(value) || (option === 'include_obfuscation' && value === false)) continue;
    throw refused(`stream_options.${option}`, 'is not supported, or not with this value.');
  }
  const { include_usage: included } = options;
  if (!isAbsent(included) && typeof included !== 'boolean') throw refused('stream_options.include_usage', 'must be a boolean.');
  return included ?? false;
}
