import { Rejection } from '../../../kernel/rejection.js';
import { callOf, type Message, saidBy, type Contents } from '../asking/messages.policy.js';
import { type AttachedPart, contentOf, INPUT_PARTS, OUTPUT_PARTS, RESULT_PARTS } from '../asking/parts.policy.js';
import { isAbsent, refused } from '../asking/refusals.policy.js';
import type { InputItem } from './response.events.js';
import { isJsonObject, type JsonObject } from '../../../resources/json-object.policy.js';

/** The content of the input of a request, and its items as they are stored. */
export type Input = Contents & Readonly<{ items: readonly InputItem[] }>;

/** An item of the input and its message. Items that only models read have no message. */
type Read = Readonly<{ message?: Message; item: InputItem }>;

/**
 * `instructions`: the instructions that precede all input. @throws Rejection invalid-request, which names the item that is not
 * accepted
 */
export function inputOf(given: unknown, instructions: string | null): Input {
  if (isAbsent(given) || given === '') throw new Rejection('invalid-request', 'input is required.', { param: 'input' });
  const before: readonly Message[] =
    instructions === null ? [] : [{ role: 'instructions', place: 'instructions', text: instructions }];
  if (typeof given === 'string') {
    const message: Message = { role: 'user', place: 'input', text: given, attached: [] };
    return { ...saidBy([...before, message], 'input'), items: [userItem([{ type: 'input_text', text: given }])] };
  }
  if (!Array.isArray(given) || given.length === 0) throw refused('input', 'must be a text, or an array with at least one item.');
  const read = given.map((item: unknown, index) => itemOf(item, `input[${index}]`));
  const contents = saidBy([...before, ...read.flatMap(({ message }) => message ?? [])], 'input');
  const unread = read.flatMap(({ message }, index) => (message ? [] : `input[${index}]`));
  return { ...contents, ignored: [...unread, ...contents.ignored], items: read.map(({ item }) => item) };
}

const userItem = (content: readonly object[]): InputItem => ({ type: 'message', role: 'user', content });

function itemOf(item: unknown, place: string): Read {
  if (!isJsonObject(item)) throw refused(place, 'must be an object.');
  const type = item['type'] ?? 'message';
  switch (type) {
    case 'message':
      return messageItem(item, place);
    case 'function_call': {
      const { call_id: id, name, arguments: given } = item;
      const call = callOf(id, `${place}.call_id`);
      const kept = { type, call_id: id, name, arguments: given };
      return { message: { role: 'assistant', place, text: '', calls: [call] }, item: kept };
    }
    case 'function_call_output': {
      const { call_id: id, output } = item;
      const { text } = contentOf(output, `${place}.output`, RESULT_PARTS);
      return {
        message: { role: 'tool', place, text, call: callOf(id, `${place}.call_id`) },
        item: { type, call_id: id, output },
      };
    }
    case 'reasoning':
      // Earlier reasoning of a model is not part of the history.
      return { item: { type, summary: item['summary'] ?? [] } };
    default:
      throw refused(`${place}.type`, `${typeof type === 'string' ? type : 'this'} is not supported.`);
  }
}

function messageItem({ role, content }: JsonObject, place: string): Read {
  const at = `${place}.content`;
  switch (role) {
    case 'user': {
      const { text, attached } = contentOf(content, at, INPUT_PARTS);
      return { message: { role, place, text, attached }, item: userItem(partsKept(content, at, attached)) };
    }
    case 'assistant': {
      const { text } = contentOf(content, at, OUTPUT_PARTS);
      const kept = { type: 'message', role, content: [{ type: 'output_text', text, annotations: [], logprobs: [] }] };
      return { message: { role, place, text, calls: [] }, item: kept };
    }
    case 'system':
    case 'developer': {
      const { text } = contentOf(content, at, RESULT_PARTS);
      const kept = { type: 'message', role, content: [{ type: 'input_text', text }] };
      return { message: { role: 'instructions', place, text }, item: kept };
    }
    default:
      throw refused(`${place}.role`, 'must be user, assistant, system or developer.');
  }
}

/**
 * The parts of a message for the log. A file is replaced with its place in the request, and later with the id of its attachment.
 */
function partsKept(content: unknown, at: string, attached: readonly AttachedPart[]): readonly object[] {
  if (isAbsent(content)) return [];
  if (typeof content === 'string') return [{ type: 'input_text', text: content }];
  return (content as readonly JsonObject[]).map((part, index) => {
    const place = `${at}[${index}]`;
    if (!attached.some((each) => each.place === place)) return { type: 'input_text', text: part['text'] };
    const { filename, detail } = part;
    return part['type'] === 'input_image'
      ? { type: 'input_image', detail: detail ?? 'auto', file_id: place }
      : { type: 'input_file', file_id: place, ...(filename !== undefined && { filename }) };
  });
}

/** The items with the ids of the attachments that were made of their files. A file of an earlier message has no attachment. */
export function withAttachments(items: readonly InputItem[], ids: ReadonlyMap<string, string>): readonly InputItem[] {
  return items.map((item) => {
    const { content } = item as Readonly<{ content?: readonly JsonObject[] }>;
    if (item['role'] !== 'user' || !content) return item;
    const parts = content.map((part) =>
      'file_id' in part ? { ...part, file_id: ids.get(part['file_id'] as string) ?? null } : part,
    );
    return { ...item, content: parts };
  });
}
