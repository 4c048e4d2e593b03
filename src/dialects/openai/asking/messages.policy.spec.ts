import { expect, it } from '@jest/globals';
import { type Rejection } from '../../../kernel/rejection.js';
import { toolCallId } from './call-id.policy.js';
import { chatRequestOf } from '../chat-request.policy.js';
import { saidIn } from './messages.policy.js';

const CONVERSATION = '6f9619ff-8b86-4011-b42d-00c04fc964ff';
const ID = toolCallId({ conversationId: CONVERSATION, callId: 'c_1' });
const user = (content: unknown) => ({ role: 'user', content });
const assistant = (content: unknown, more = {}) => ({ role: 'assistant', content, ...more });

it('the last user messages are the question, and the earlier messages are the history', () => {
  const { said } = saidIn([user('A'), user('B'), assistant('C'), assistant('D'), user('E'), user([{ type: 'text', text: 'F' }])]);
  expect(said).toEqual({
    kind: 'question',
    question: 'E\n\nF',
    attached: [],
    history: [{ prompt: 'A\n\nB', response: 'C\n\nD' }],
    conversationId: undefined,
  });
});

it('results are assigned by the ids of their calls, and earlier calls name the conversation', () => {
  const called = assistant(null, { tool_calls: [{ id: ID }] });
  const result = { role: 'tool', tool_call_id: ID, content: 'green' };
  const results = [{ callId: 'c_1', text: 'green' }];
  expect(saidIn([user('A'), called, result]).said).toEqual({ kind: 'results', results, conversationId: CONVERSATION });
  expect(saidIn([user('A'), called, result, assistant('B'), user('C')]).said).toMatchObject({
    question: 'C',
    conversationId: CONVERSATION,
  });
});

const paramOf = (body: object): unknown => {
  try {
    return chatRequestOf({ messages: [user('A')], ...body }, 'agent') && undefined;
  } catch (error) {
    return (error as Rejection).details?.['param'];
  }
};

it.each<[string, object]>([
  ['messages', { messages: null }],
  ['messages[0]', { messages: ['A'] }],
  ['messages[0].content', { messages: [user(7)] }],
  ['messages[0].name', { messages: [{ ...user('A'), name: 'Ann' }] }],
  ['messages[0].content', { messages: [user(' ')] }],
  ['messages[1]', { messages: [user('A'), assistant('B')] }],
  ['messages', { messages: [{ role: 'developer', content: 'A' }] }],
  ['response_format.json_schema.schema', { response_format: { type: 'json_schema', json_schema: {} } }],
  ['messages[0].role', { messages: [{ role: 'critic', content: 'A' }] }],
  ['stream', { stream: 'yes' }],
  ['stream_options.include_obfuscation', { stream_options: { include_obfuscation: true } }],
  ['tools[0].function.name', { tools: [{ type: 'function', function: {} }] }],
  ['docsgpt.conversation_id', { docsgpt: { conversation_id: 7 } }],
  ['logit_bias', { logit_bias: {} }],
  ['store', { store: false }],
])('%s is named if it is not accepted', (param, body) => {
  expect(paramOf(body)).toBe(param);
});

it('default values of unsupported options are accepted', () => {
  const nothing = { n: 1, temperature: 1, top_p: null, logprobs: false, tool_choice: 'auto', response_format: { type: 'text' } };
  expect(chatRequestOf({ messages: [user('A')], model: 'agent', user: 'ann', ...nothing }, 'agent')).toMatchObject({
    modelId: undefined,
    tools: [],
    stream: false,
    includesUsage: false,
  });
});
