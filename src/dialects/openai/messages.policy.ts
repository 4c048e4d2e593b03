import { Rejection } from '../../kernel/rejection.js';
import { callNamedBy, type NamedCall } from './call-id.policy.js';

type Exchange = Readonly<{ prompt: string; response: string }>;

/** What the caller's code said, as text. */
export type CallResult = Readonly<{ callId: string; text: string }>;

/** What the messages of a request come to: a question after what was said before, or the results that a turn waits for. */
export type Said = Readonly<
  | { kind: 'question'; question: string; history: readonly Exchange[]; conversationId: string | undefined }
  | { kind: 'results'; results: readonly CallResult[]; conversationId: string }
>;

/** What a request refuses, and which of its fields is to blame. */
export const refused = (param: string, why: string): Rejection => new Rejection('invalid-request', `${param} ${why}`, { param });

export const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export const isAbsent = (value: unknown): value is null | undefined => value === undefined || value === null;

type Message = Readonly<{ place: string; text: string }> &
  Readonly<{ role: 'user' } | { role: 'assistant'; calls: readonly NamedCall[] } | { role: 'tool'; call: NamedCall }>;

/** Of a message what nobody here would read. */
const UNREAD_FIELDS = ['name', 'audio', 'function_call'] as const;

/** @throws Rejection invalid-request, which names the message and the part of it that cannot be taken */
export function saidIn(given: unknown): Readonly<{ said: Said; ignored: readonly string[] }> {
  if (isAbsent(given)) throw new Rejection('invalid-request', 'messages field is required', { param: 'messages' });
  if (!Array.isArray(given) || given.length === 0) throw refused('messages', 'must be an array with at least one message.');
  const all = given.map((message: unknown, index) => messageOf(message, `messages[${index}]`));
  const messages = all.filter((message) => message.role !== 'instructions');
  const ignored = all.flatMap(({ role, place }) => (role === 'instructions' ? place : []));
  const last = messages.at(-1);
  if (!last) throw refused('messages', 'must have a message of the role user or tool.');
  if (last.role === 'assistant') throw refused(last.place, 'is the last message, which must be of the role user or tool.');
  return { said: last.role === 'tool' ? resultsIn(messages) : questionIn(messages), ignored };
}

/** What an agent is told is up to its owner, so instructions of the caller are taken and ignored. */
type Instructions = Readonly<{ role: 'instructions'; place: string }>;

function messageOf(message: unknown, place: string): Message | Instructions {
  if (!isObject(message)) throw refused(place, 'must be an object.');
  for (const field of UNREAD_FIELDS) if (!isAbsent(message[field])) throw refused(`${place}.${field}`, 'is not supported.');
  const { role } = message;
  const text = textOf(message['content'], `${place}.content`);
  switch (role) {
    case 'user':
      return { role, place, text };
    case 'assistant':
      return { role, place, text, calls: callsOf(message['tool_calls'], `${place}.tool_calls`) };
    case 'tool':
      return { role, place, text, call: callOf(message['tool_call_id'], `${place}.tool_call_id`) };
    case 'system':
    case 'developer':
      return { role: 'instructions', place };
    default:
      throw refused(`${place}.role`, 'must be user, assistant or tool.');
  }
}

function textOf(content: unknown, place: string): string {
  if (isAbsent(content)) return '';
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) throw refused(place, 'must be a string or an array of parts.');
  return content.map((part: unknown, index) => textOfPart(part, `${place}[${index}]`)).join('\n');
}

function textOfPart(part: unknown, place: string): string {
  if (!isObject(part)) throw refused(place, 'must be an object.');
  if (part['type'] !== 'text') throw refused(`${place}.type`, `${String(part['type'])} is not supported: parts are text.`);
  if (typeof part['text'] !== 'string') throw refused(`${place}.text`, 'must be a string.');
  return part['text'];
}

function callsOf(calls: unknown, place: string): readonly NamedCall[] {
  if (isAbsent(calls)) return [];
  if (!Array.isArray(calls)) throw refused(place, 'must be an array.');
  return calls.map((call: unknown, index) => callOf(isObject(call) ? call['id'] : undefined, `${place}[${index}].id`));
}

function callOf(id: unknown, place: string): NamedCall {
  const call = typeof id === 'string' ? callNamedBy(id) : undefined;
  if (!call) throw refused(place, 'is not the id of a call of this service.');
  return call;
}

/** The messages at the end that have a role. */
const trailing = <Role extends Message['role']>(messages: readonly Message[], role: Role) =>
  messages.slice(messages.findLastIndex((message) => message.role !== role) + 1) as Extract<Message, { role: Role }>[];

function resultsIn(messages: readonly Message[]): Said {
  const told = trailing(messages, 'tool');
  const { conversationId } = told[0]!.call;
  const elsewhere = told.find(({ call }) => call.conversationId !== conversationId);
  if (elsewhere) throw refused(`${elsewhere.place}.tool_call_id`, 'is of another conversation than the others.');
  const results = told.map(({ call: { callId }, text }) => ({ callId, text }));
  return { kind: 'results', results, conversationId };
}

/** Calls that were made on the way stand in the log of their conversation, which then goes on: it knows more than the messages say. */
function questionIn(messages: readonly Message[]): Said {
  const asked = trailing(messages, 'user');
  const question = asked.map(({ text }) => text).join('\n\n');
  if (question.trim() === '') throw refused(`${asked.at(-1)!.place}.content`, 'must say something.');
  const before = messages.slice(0, -asked.length);
  const called = before.flatMap((message) => (message.role === 'assistant' ? message.calls : []));
  return { kind: 'question', question, history: exchangesOf(before), conversationId: called.at(-1)?.conversationId };
}

/** A question and all that was answered to it; several questions in a row are one. */
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
