import { Rejection } from '../../kernel/rejection.js';
import { formatIn } from './asking/answer-format.policy.js';
import { type CallersFunction, functionOf } from './asking/functions.policy.js';
import { saidIn, type Contents } from './asking/messages.policy.js';
import { isAbsent, isObject, type OnlyValues, refused, refuseUnread } from './asking/refusals.policy.js';

/** The parts of a request for a completion that the service uses. */
export type ChatRequest = Contents &
  Readonly<{
    conversationId: string | undefined;
    /** Undefined: the agent's own model. */
    modelId: string | undefined;
    tools: readonly Readonly<Record<string, unknown>>[];
    /** The schema that the answer must match. */
    schema: Readonly<Record<string, unknown>> | undefined;
    sampling: Readonly<Record<string, unknown>>;
    stream: boolean;
    includesUsage: boolean;
    /** The body of the request. */
    body: object;
  }>;

const SAMPLING = ['temperature', 'top_p', 'frequency_penalty', 'presence_penalty', 'seed', 'stop', 'max_tokens'];
/** Accepted and ignored, because most clients send some of these with every request. */
const IGNORED = ['reasoning_effort', 'verbosity'];
const READ = [
  ...['messages', 'model', 'tools', 'stream', 'stream_options', 'conversation_id', 'docsgpt', 'response_format'],
  ...[...SAMPLING, 'max_completion_tokens', ...IGNORED],
];

/** `user` is an identifier for the caller's own records. */
const ONLY: OnlyValues = {
  n: (value) => value === 1,
  logprobs: (value) => value === false,
  parallel_tool_calls: (value) => value === true,
  tool_choice: (value) => value === 'auto',
  user: (value) => typeof value === 'string',
};

/**
 * `agentId`: the agent whose key was sent. As a model, it means the agent's own model. @throws Rejection invalid-request, which
 * names the field
 */
export function chatRequestOf(body: unknown, agentId: string): ChatRequest {
  if (!isObject(body)) throw new Rejection('invalid-request', 'The request body must be a JSON object.');
  refuseUnread(body, READ, ONLY);
  const { model, tools, stream, stream_options: options, response_format: format } = body;
  if (!isAbsent(model) && typeof model !== 'string') throw refused('model', 'must be a string.');
  if (!isAbsent(stream) && typeof stream !== 'boolean') throw refused('stream', 'must be a boolean.');
  const contents = saidIn(body['messages']);
  const functions = isAbsent(tools) ? [] : functionsOf(tools);
  return {
    ...contents,
    ignored: [
      ...IGNORED.filter((field) => !isAbsent(body[field])),
      ...functions.flatMap(({ ignored }) => ignored),
      ...contents.ignored,
    ],
    conversationId: conversationIn(body),
    modelId: !model || model === agentId ? undefined : model,
    tools: functions.map(({ declared }) => declared),
    schema: isAbsent(format) ? undefined : formatIn(format, 'response_format', 'json_schema'),
    sampling: samplingIn(body),
    stream: stream ?? false,
    includesUsage: includesUsage(options),
    body,
  };
}

function samplingIn(body: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const { max_completion_tokens: newer } = body;
  const named = SAMPLING.filter((field) => !isAbsent(body[field])).map((field) => [field, body[field]] as const);
  return { ...Object.fromEntries(named), ...(!isAbsent(newer) && { max_tokens: newer }) };
}

function conversationIn({ conversation_id: own, docsgpt }: Readonly<Record<string, unknown>>): string | undefined {
  if (!isAbsent(docsgpt) && !isObject(docsgpt)) throw refused('docsgpt', 'must be an object.');
  const [param, id] = isAbsent(own) ? ['docsgpt.conversation_id', docsgpt?.['conversation_id']] : ['conversation_id', own];
  if (!isAbsent(id) && typeof id !== 'string') throw refused(param, 'must be a string.');
  return id || undefined;
}

function functionsOf(tools: unknown): readonly CallersFunction[] {
  if (!Array.isArray(tools)) throw refused('tools', 'must be an array.');
  return tools.map((tool: unknown, index) => {
    const place = `tools[${index}]`;
    const declared = isObject(tool) && tool['type'] === 'function' ? tool['function'] : undefined;
    if (!isObject(declared)) throw refused(place, 'must be of the type function.');
    return functionOf(declared, `${place}.function`);
  });
}

function includesUsage(options: unknown): boolean {
  if (isAbsent(options)) return false;
  if (!isObject(options)) throw refused('stream_options', 'must be an object.');
  for (const [option, value] of Object.entries(options)) {
    if (option !== 'include_usage' && !isAbsent(value)) throw refused(`stream_options.${option}`, 'is not supported.');
  }
  const { include_usage: included } = options;
  if (!isAbsent(included) && typeof included !== 'boolean') throw refused('stream_options.include_usage', 'must be a boolean.');
  return included ?? false;
}
