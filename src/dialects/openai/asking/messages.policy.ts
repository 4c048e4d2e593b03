import { Rejection } from '../../../kernel/rejection.js';
import { callNamedBy, type NamedCall } from './call-id.policy.js';
import { type AttachedPart, CHAT_ANSWER_PARTS, CHAT_PARTS, type Content, contentOf, RESULT_PARTS } from './parts.policy.js';
import { isAbsent, refused } from './refusals.policy.js';
import { isJsonObject } from '../../../resources/json-object.policy.js';

type Exchange = Readonly<{ prompt: string; response: string }>;

/** The result of a call of the caller's code, as text. */
type CallResult = Readonly<{ callId: string; text: string }>;

/** The content of the messages of a request: a question with the earlier exchanges, or the results that a turn waits for. */
export type Said = Readonly<
  | {
      kind: 'question';
      question: string;
      attached: readonly AttachedPart[];
      history: readonly Exchange[];
      conversationId: string | undefined;
    }
  | { kind: 'results'; results: readonly CallResult[]; conversationId: string }
>;

/**
 * The content of messages. `instructions` replace the prompt of an agent that allows it, and `instructionsAt` are their places.
 * `ignored`: the places without effect.
 */
export type Contents = Readonly<{
  said: Said;
  instructions: string;
  instructionsAt: readonly string[];
  ignored: readonly string[];
}>;

type Spoken = Readonly<
  | ({ role: 'user' } & Content)
  | { role: 'assistant'; text: string; calls: readonly NamedCall[] }
  | { role: 'tool'; text: string; call: NamedCall }
>;

export type Message = Readonly<{ place: string }> & (Spoken | Readonly<{ role: 'instructions'; text: string }>);

/** The fields of a message that the service does not support. */
const UNREAD_FIELDS = ['audio', 'function_call'] as const;

/** @throws Rejection invalid-request, which names the message and the part of it that is not accepted */
export function saidIn(given: unknown): Contents {
  if (isAbsent(given)) throw new Rejection('invalid-request', 'messages field is required', { param: 'messages' });
  if (!Array.isArray(given) || given.length === 0) throw refused('messages', 'must be an array with at least one message.');
  const contents = saidBy(
    given.map((message: unknown, index) => messageOf(message, `messages[${index}]`)),
    'messages',
  );
  const isNamed = given.some((message) => isJsonObject(message) && !isAbsent(message['name']));
  // Reported once, because some clients name every message and headers have a limit.
  return isNamed ? { ...contents, ignored: [...contents.ignored, 'messages.name'] } : contents;
}

/** `field` holds the messages. @throws Rejection invalid-request */
export function saidBy(all: readonly Message[], field: string): Contents {
  const messages = all.filter((message) => message.role !== 'instructions');
  const instructing = all.filter((message) => message.role === 'instructions');
  const instructions = joined(instructing.map(({ text }) => text));
  const last = messages.at(-1);
  if (!last) throw refused(field, 'must have a message of the role user or tool.');
  if (last.role === 'assistant') throw refused(last.place, 'is the last message, which must be of the role user or tool.');
  const said = last.role === 'tool' ? resultsIn(messages) : questionIn(messages);
  const asked = said.kind === 'question' ? said.attached : [];
  // Files of earlier questions are not part of the history.
  const ignored = messages.flatMap((message) =>
    message.role === 'user' ? message.attached.filter((part) => !asked.includes(part)).map(({ place }) => place) : [],
  );
  return { said, instructions, instructionsAt: instructing.map(({ place }) => place), ignored };
}

function messageOf(message: unknown, place: string): Message {
  if (!isJsonObject(message)) throw refused(place, 'must be an object.');
  for (const field of UNREAD_FIELDS) if (!isAbsent(message[field])) throw refused(`${place}.${field}`, 'is not supported.');
  const { role, content, name } = message;
  if (!isAbsent(name) && typeof name !== 'string') throw refused(`${place}.name`, 'must be a string.');
  const at = `${place}.content`;
  switch (role) {
    case 'user':
      return { role, place, ...contentOf(content, at, CHAT_PARTS) };
    case 'assistant': {
      const { text } = contentOf(content, at, CHAT_ANSWER_PARTS);
      return { role, place, text, calls: callsOf(message['tool_calls'], `${place}.tool_calls`) };
    }
    case 'tool': {
      const { text } = contentOf(content, at, RESULT_PARTS);
      return { role, place, text, call: callOf(message['tool_call_id'], `${place}.tool_call_id`) };
    }
    case 'system':
    case 'developer':
      return { role: 'instructions', place, text: contentOf(content, at, RESULT_PARTS).text };
    default:
      throw refused(`${place}.role`, 'must be user, assistant, tool, system or developer.');
  }
}

function callsOf(calls: unknown, place: string): readonly NamedCall[] {
  if (isAbsent(calls)) return [];
  if (!Array.isArray(calls)) throw refused(place, 'must be an array.');
  return calls.map((call: unknown, index) => callOf(isJsonObject(call) ? call['id'] : undefined, `${place}[${index}].id`));
}

export function callOf(id: unknown, place: string): NamedCall {
  const call = typeof id === 'string' ? callNamedBy(id) : undefined;
  if (!call) throw refused(place, 'is not the id of a call of this service.');
  return call;
}

type Of<Role extends Spoken['role']> = Extract<Message, { role: Role }>;

/** The last messages, as far back as they all have this role. */
const trailing = <Role extends Spoken['role']>(messages: readonly Message[], role: Role) =>
  messages.slice(messages.findLastIndex((message) => message.role !== role) + 1) as Of<Role>[];

function resultsIn(messages: readonly Message[]): Said {
  const answers = trailing(messages, 'tool');
  const { conversationId } = answers[0]!.call;
  const elsewhere = answers.find(({ call }) => call.conversationId !== conversationId);
  if (elsewhere) throw refused(elsewhere.place, 'is a result for a call of another conversation than the others.');
  const results = answers.map(({ call: { callId }, text }) => ({ callId, text }));
  return { kind: 'results', results, conversationId };
}

/** If earlier messages name a call, its conversation is continued, because its log holds more than the messages. */
function questionIn(messages: readonly Message[]): Said {
  const asked = trailing(messages, 'user');
  const attached = asked.flatMap((message) => message.attached);
  const question = joined(asked.map(({ text }) => text));
  if (question.trim() === '') throw refused(`${asked.at(-1)!.place}.content`, 'must say something.');
  const before = messages.slice(0, -asked.length);
  const called = before.flatMap((message) => (message.role === 'assistant' ? message.calls : []));
  const conversationId = called.at(-1)?.conversationId;
  return { kind: 'question', question, attached, history: exchangesOf(before), conversationId };
}

/** Exchanges of a question and all answers to it. Consecutive questions count as one. */
function exchangesOf(messages: readonly Message[]): readonly Exchange[] {
  const exchanges: { prompt: string[]; response: string[] }[] = [];
  for (const { role, text } of messages) {
    const open = exchanges.at(-1);
    if (role === 'user' && open?.response.length === 0) open.prompt.push(text);
    else if (role === 'user') exchanges.push({ prompt: [text], response: [] });
    else if (role === 'assistant' && open) open.response.push(text);
    else if (role === 'assistant') exchanges.push({ prompt: [], response: [text] });
  }
  return exchanges.map(({ prompt, response }) => ({ prompt: joined(prompt), response: joined(response) }));
}

const joined = (texts: readonly string[]): string => texts.filter((text) => text !== '').join('\n\n');
