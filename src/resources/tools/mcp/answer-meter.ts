import { JsonMeter } from '../../../kernel/bounded-json.js';
import { Rejection } from '../../../kernel/rejection.js';
import { isJsonObject } from '../../json-object.policy.js';
import { AnswerTooLarge } from './mcp-failures.js';

/**
 * Maximum number of listed tools and of array elements on all levels of the content, in all messages of one response. The client
 * takes 80 µs to describe a wrong item of content. The text of a result that may be returned has far fewer items.
 */
export const MCP_ITEMS_MAX = 500;

/**
 * Maximum number of messages of one response, by kind. The client sends a response to every request. It takes 100 µs to describe
 * a wrong message.
 */
export const MCP_MESSAGES_MAX = { request: 10, notification: 1_000, other: 100 } as const;

/** Checks the limits of the messages of one response before the client validates them, because its errors describe every entry. */
export class AnswerMeter {
  private readonly messages = { request: 0, notification: 0, other: 0 };
  private items = 0;

  /** Whether the messages in a JSON text may be handled. Further messages of a kind may not. @throws AnswerTooLarge */
  admits(text: string): boolean {
    const value = parsed(text);
    return (Array.isArray(value) ? value : [value]).every((message) => this.admitsMessage(message));
  }

  private admitsMessage(message: unknown): boolean {
    const fields = isJsonObject(message) ? message : {};
    const kind = !('method' in fields) ? 'other' : 'id' in fields ? 'request' : 'notification';
    if (++this.messages[kind] > MCP_MESSAGES_MAX[kind]) return false;
    const { content, tools } = isJsonObject(fields['result']) ? fields['result'] : {};
    this.items += elementsIn(content) + (Array.isArray(tools) ? tools.length : 0);
    if (this.items > MCP_ITEMS_MAX) throw new AnswerTooLarge(`More than ${MCP_ITEMS_MAX} items came.`);
    return true;
  }
}

/** The value of a JSON text; undefined if it is not JSON. @throws AnswerTooLarge */
function parsed(text: string): unknown {
  try {
    new JsonMeter('The message').read(Buffer.from(text));
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof Rejection) throw new AnswerTooLarge(error.message, { cause: error });
    return undefined;
  }
}

/** The number of elements of all arrays in a value. */
function elementsIn(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  const own = Array.isArray(value) ? value.length : 0;
  return Object.values(value).reduce<number>((sum, part) => sum + elementsIn(part), own);
}
