import { Rejection } from '../../kernel/rejection.js';
import { isAbsent, isObject, refused, type Said, saidIn } from './messages.policy.js';

/** A request for a completion, as far as it is ours to answer. */
export type ChatRequest = Readonly<{
  said: Said;
  conversationId: string | undefined;
  /** Undefined: the agent's own. */
  modelId: string | undefined;
  tools: unknown[];
  stream: boolean;
  includesUsage: boolean;
  /** What was sent and has no effect, by its place in the request. */
  ignored: readonly string[];
}>;

const READ = ['messages', 'model', 'tools', 'stream', 'stream_options', 'conversation_id', 'docsgpt'];

/** Options with the one value, which is also the default, that changes nothing. `user` is a name for the caller's own books. */
const ONLY: Readonly<Record<string, (value: unknown) => boolean>> = {
  n: (value) => value === 1,
  logprobs: (value) => value === false,
  parallel_tool_calls: (value) => value === true,
  tool_choice: (value) => value === 'auto',
  response_format: (value) => isObject(value) && value['type'] === 'text',
  user: (value) => typeof value === 'string',
};

/** How a model is to be sampled is up to the agent. Most clients send some of these with every request, so they are taken and ignored. */
const IGNORED = [
  ...['temperature', 'top_p', 'frequency_penalty', 'presence_penalty', 'seed', 'stop'],
  ...['max_tokens', 'max_completion_tokens', 'reasoning_effort', 'verbosity'],
];

/** `agentId`: whose key was sent; as a model it is the agent's own. @throws Rejection invalid-request, which names the field */
export function chatRequestOf(body: unknown, agentId: string): ChatRequest {
  if (!isObject(body)) throw new Rejection('invalid-request', 'The request body must be a JSON object.');
  refuseUnsupported(body);
  const { model, tools, stream, stream_options: options } = body;
  if (!isAbsent(model) && typeof model !== 'string') throw refused('model', 'must be a string.');
  if (!isAbsent(stream) && typeof stream !== 'boolean') throw refused('stream', 'must be a boolean.');
  const { said, ignored } = saidIn(body['messages']);
  return {
    said,
    ignored: [...IGNORED.filter((field) => !isAbsent(body[field])), ...ignored],
    conversationId: conversationIn(body),
    modelId: !model || model === agentId ? undefined : model,
    tools: isAbsent(tools) ? [] : functionsOf(tools),
    stream: stream ?? false,
    includesUsage: includesUsage(options),
  };
}

function refuseUnsupported(body: Readonly<Record<string, unknown>>): void {
  for (const [field, value] of Object.entries(body)) {
    if (READ.includes(field) || IGNORED.includes(field) || isAbsent(value)) continue;
    if (!(Object.hasOwn(ONLY, field) && ONLY[field]!(value))) throw refused(field, 'is not supported, or not with this value.');
  }
}

function conversationIn({ conversation_id: own, docsgpt }: Readonly<Record<string, unknown>>): string | undefined {
  if (!isAbsent(docsgpt) && !isObject(docsgpt)) throw refused('docsgpt', 'must be an object.');
  const [param, id] = isAbsent(own) ? ['docsgpt.conversation_id', docsgpt?.['conversation_id']] : ['conversation_id', own];
  if (!isAbsent(id) && typeof id !== 'string') throw refused(param, 'must be a string.');
  return id || undefined;
}

function functionsOf(tools: unknown): unknown[] {
  if (!Array.isArray(tools)) throw refused('tools', 'must be an array.');
  return tools.map((tool: unknown, index) => {
    const place = `tools[${index}]`;
    const declared = isObject(tool) && tool['type'] === 'function' ? tool['function'] : undefined;
    if (!isObject(declared)) throw refused(place, 'must be of the type function.');
    const { name, description, parameters, strict } = declared;
    if (typeof name !== 'string' || name === '') throw refused(`${place}.function.name`, 'must be a string.');
    if (!isAbsent(description) && typeof description !== 'string')
      throw refused(`${place}.function.description`, 'must be a string.');
    if (!isAbsent(parameters) && !isObject(parameters)) throw refused(`${place}.function.parameters`, 'must be an object.');
    if (!isAbsent(strict) && strict !== false) throw refused(`${place}.function.strict`, 'is not supported.');
    return { name, ...(description && { description }), ...(parameters && { parameters }) };
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
