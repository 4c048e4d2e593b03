import { describe, expect, it } from '@jest/globals';
import { type Rejection } from '../../../kernel/rejection.js';
import { toolCallId } from './call-id.policy.js';
import { chatRequestOf } from '../chat-request.policy.js';
import { saidIn } from './messages.policy.js';

const CONVERSATION = '6f9619ff-8b86-4011-b42d-00c04fc964ff';
const ID = toolCallId({ conversationId: CONVERSATION, callId: 'c_1' });
const PICK = { type: 'function', function: { name: 'pick_colour' } };
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

it('names of messages are accepted and ignored, because frameworks send them with questions, answers and results', () => {
  const called = assistant(null, { name: 'painter', tool_calls: [{ id: ID }] });
  const result = { role: 'tool', tool_call_id: ID, content: 'green', name: 'pick_colour' };
  expect(saidIn([{ ...user('A'), name: 'Ann' }, called, result])).toMatchObject({
    said: { kind: 'results', results: [{ callId: 'c_1', text: 'green' }] },
    ignored: ['messages.name'],
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
  ['messages[0].name', { messages: [{ ...user('A'), name: 7 }] }],
  ['messages[0].content', { messages: [user(' ')] }],
  ['messages[1]', { messages: [user('A'), assistant('B')] }],
  ['messages', { messages: [{ role: 'developer', content: 'A' }] }],
  ['response_format.json_schema.schema', { response_format: { type: 'json_schema', json_schema: {} } }],
  ['messages[0].role', { messages: [{ role: 'critic', content: 'A' }] }],
  ['stream', { stream: 'yes' }],
  ['stream_options.include_obfuscation', { stream_options: { include_obfuscation: true } }],
  ['tools[0].function.name', { tools: [{ type: 'function', function: {} }] }],
  ['docsgpt.conversation_id', { docsgpt: { conversation_id: 7 } }],
  ['docsgpt.attachments', { docsgpt: { attachments: 'A' } }],
  ['docsgpt.attachments[1]', { docsgpt: { attachments: [CONVERSATION, 'A'] } }],
  ['logit_bias', { logit_bias: { 50256: -100 } }],
  ['metadata', { metadata: { run: 'A' } }],
  ['modalities', { modalities: ['text', 'audio'] }],
  ['parallel_tool_calls', { parallel_tool_calls: false, tools: [PICK] }],
  ['store', { store: true }],
  ['tool_choice', { tool_choice: 'none', tools: [PICK] }],
])('%s is named if it is not accepted', (param, body) => {
  expect(paramOf(body)).toBe(param);
});

const DEFAULTS = {
  ...{
    function_call: null,
    logit_bias: {},
    logprobs: false,
    metadata: {},
    modalities: ['text'],
    n: 1,
    store: false,
    top_logprobs: 0,
  },
  ...{ prompt_cache_key: 'A', prompt_cache_retention: '24h', safety_identifier: 'A', service_tier: 'auto', user: 'ann' },
  ...{ response_format: { type: 'text' }, stream_options: { include_obfuscation: false }, temperature: 1, top_p: null },
};

it.each<[string, object]>([
  ['tools', { tool_choice: 'auto', parallel_tool_calls: true, tools: [PICK] }],
  ['an empty list of tools', { tool_choice: 'none', parallel_tool_calls: false, tools: [] }],
  ['no tools', { tool_choice: 'none', parallel_tool_calls: false }],
])('default values of unsupported options are accepted with %s', (_, more) => {
  expect(chatRequestOf({ messages: [user('A')], ...DEFAULTS, ...more }, 'agent')).toMatchObject({
    stream: false,
    includesUsage: false,
    ignored: [],
  });
});

it.each(['agent', 'docsgpt', 'docsgpt-agent', ''])("the model %j is the agent's own", (model) => {
  expect(chatRequestOf({ messages: [user('A')], model }, 'agent').modelId).toBeUndefined();
});

describe('docsgpt', () => {
  it('names attachments of the question', () => {
    const attachments = [CONVERSATION];
    const { said, ignored } = chatRequestOf({ messages: [user('A')], docsgpt: { attachments } }, 'agent');
    expect(said).toMatchObject({ attached: [{ place: 'docsgpt.attachments[0]', attachmentId: CONVERSATION }] });
    expect(ignored).toEqual([]);
  });

  it('has no effect in fields that the service does not support, or next to results', () => {
    const docsgpt = { attachments: [CONVERSATION], persist: false, conversation_id: null };
    const messages = [user('A'), assistant(null, { tool_calls: [{ id: ID }] }), { role: 'tool', tool_call_id: ID, content: 'B' }];
    expect(chatRequestOf({ messages, docsgpt }, 'agent').ignored).toEqual(['docsgpt.attachments', 'docsgpt.persist']);
  });
});
