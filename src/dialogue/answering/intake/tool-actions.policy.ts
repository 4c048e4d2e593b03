import { Rejection } from '../../../kernel/rejection.js';
import type { ClientTool } from '../../conversation/conversation.events.js';
import type { CallAnswer } from '../../conversation/pause.decider.js';

export const TOOL_ACTIONS_MAX = 100;
export const COMMENT_CHARACTERS_MAX = 4_000;
/** Maximum size of all results and comments of one resumption, because one append stores them. */
export const RESULTS_BYTES_MAX = 512 * 1024;
export const CLIENT_TOOLS_MAX = 100;
/** Maximum size of all client tools as JSON, because they are stored with the question. */
export const CLIENT_TOOLS_BYTES_MAX = 256 * 1024;

const invalid = (text: string) => new Rejection('invalid-request', text);

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Parses a caller's answers to pending calls. @throws Rejection invalid-request, too-large */
export function answersOf(actions: readonly unknown[]): readonly CallAnswer[] {
  if (actions.length > TOOL_ACTIONS_MAX) throw invalid(`tool_actions may have at most ${TOOL_ACTIONS_MAX} entries.`);
  const answers = actions.map(answerOf);
  if (new Set(answers.map(({ callId }) => callId)).size < answers.length) throw invalid('tool_actions names a call_id twice.');
  const bytes = answers.reduce((sum, answer) => sum + Buffer.byteLength(JSON.stringify(answer)), 0);
  if (bytes > RESULTS_BYTES_MAX) throw new Rejection('too-large', `tool_actions may have at most ${RESULTS_BYTES_MAX} bytes.`);
  return answers;
}

function answerOf(action: unknown, index: number): CallAnswer {
  const place = `tool_actions[${index}]`;
  if (!isObject(action)) throw invalid(`${place} must be an object.`);
  const { call_id: callId, decision, comment, result } = action;
  if (typeof callId !== 'string' || callId === '') throw invalid(`${place}.call_id must be a string.`);
  if (decision === undefined || decision === null) {
    if (result === undefined) throw invalid(`${place} must have a decision or a result.`);
    return { callId, result: JSON.stringify(result) };
  }
  if (decision === 'approved') return { callId, decision };
  if (decision !== 'denied') throw invalid(`${place}.decision must be approved or denied.`);
  if (comment !== undefined && comment !== null && typeof comment !== 'string')
    throw invalid(`${place}.comment must be a string.`);
  if ((comment ?? '').length > COMMENT_CHARACTERS_MAX) {
    throw invalid(`${place}.comment may have at most ${COMMENT_CHARACTERS_MAX} characters.`);
  }
  return { callId, decision, comment: comment ?? null };
}

/**
 * Parses the caller's functions, either in the form of OpenAI's API or without its `function` wrapper.
 * @throws Rejection invalid-request
 */
export function clientToolsOf(given: readonly unknown[]): readonly ClientTool[] {
  if (given.length > CLIENT_TOOLS_MAX) throw invalid(`client_tools may have at most ${CLIENT_TOOLS_MAX} entries.`);
  if (Buffer.byteLength(JSON.stringify(given)) > CLIENT_TOOLS_BYTES_MAX) {
    throw invalid(`client_tools may have at most ${CLIENT_TOOLS_BYTES_MAX} bytes.`);
  }
  return given.map((tool, index) => {
    const place = `client_tools[${index}]`;
    const declared = isObject(tool) && isObject(tool['function']) ? tool['function'] : tool;
    if (!isObject(declared)) throw invalid(`${place} must be a function.`);
    const { name, description, parameters } = declared;
    if (typeof name !== 'string' || name === '') throw invalid(`${place}.name must be a string.`);
    if (description !== undefined && typeof description !== 'string') throw invalid(`${place}.description must be a string.`);
    if (parameters !== undefined && !isObject(parameters)) throw invalid(`${place}.parameters must be an object.`);
    return { name, description: description ?? '', parameters: parameters ?? { type: 'object', properties: {} } };
  });
}
