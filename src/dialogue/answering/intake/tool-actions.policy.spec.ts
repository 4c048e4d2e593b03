import { describe, expect, it } from '@jest/globals';
import {
  answersOf,
  CLIENT_TOOLS_BYTES_MAX,
  CLIENT_TOOLS_MAX,
  clientToolsOf,
  COMMENT_CHARACTERS_MAX,
  RESULTS_BYTES_MAX,
  TOOL_ACTIONS_MAX,
} from './tool-actions.policy.js';

const refusedAs = (code: string, message?: string) =>
  expect.objectContaining({ code, ...(message && { message: expect.stringContaining(message) as unknown }) });

describe('the answers of a caller to pending calls', () => {
  it('are approvals, denials with or without a comment, or results of any value', () => {
    expect(
      answersOf([
        { call_id: 'a', decision: 'approved', result: 'ignored' },
        { call_id: 'b', decision: 'denied' },
        { call_id: 'c', decision: 'denied', comment: null },
        { call_id: 'd', decision: 'denied', comment: 'no' },
        ...['', 0, false, null, { a: 1 }].map((result, index) => ({ call_id: `r${index}`, decision: null, result })),
      ]),
    ).toEqual([
      { callId: 'a', decision: 'approved' },
      { callId: 'b', decision: 'denied', comment: null },
      { callId: 'c', decision: 'denied', comment: null },
      { callId: 'd', decision: 'denied', comment: 'no' },
      ...['""', '0', 'false', 'null', '{"a":1}'].map((result, index) => ({ callId: `r${index}`, result })),
    ]);
  });
  it.each([
    ['tool_actions[0] must be an object', 'a'],
    ['tool_actions[0] must be an object', ['a']],
    ['tool_actions[0].call_id', { decision: 'approved' }],
    ['tool_actions[0].call_id', { call_id: '', decision: 'approved' }],
    ['tool_actions[0].call_id', { call_id: 7, decision: 'approved' }],
    ['must have a decision or a result', { call_id: 'a' }],
    ['must be approved or denied', { call_id: 'a', decision: 'Approved' }],
    ['must be approved or denied', { call_id: 'a', decision: true }],
    ['comment must be a string', { call_id: 'a', decision: 'denied', comment: { no: 1 } }],
  ])('are refused with %s', (message, action) => {
    expect(() => answersOf([action])).toThrow(refusedAs('invalid-request', message));
  });
  it('name each call only once', () => {
    const twice = [
      { call_id: 'a', decision: 'approved' },
      { call_id: 'a', result: 1 },
    ];
    expect(() => answersOf(twice)).toThrow(refusedAs('invalid-request', 'twice'));
  });
  it('have at most TOOL_ACTIONS_MAX entries', () => {
    const actions = Array.from({ length: TOOL_ACTIONS_MAX }, (_, index) => ({ call_id: `${index}`, decision: 'approved' }));
    expect(answersOf(actions)).toHaveLength(TOOL_ACTIONS_MAX);
    expect(() => answersOf([...actions, { call_id: 'one more', decision: 'approved' }])).toThrow(refusedAs('invalid-request'));
  });
  it('have comments of at most COMMENT_CHARACTERS_MAX characters', () => {
    const denied = (length: number) => [{ call_id: 'a', decision: 'denied', comment: 'x'.repeat(length) }];
    expect(answersOf(denied(COMMENT_CHARACTERS_MAX))).toHaveLength(1);
    expect(() => answersOf(denied(COMMENT_CHARACTERS_MAX + 1))).toThrow(refusedAs('invalid-request', 'comment'));
  });
  it('have a maximum size in bytes, also with escaped characters', () => {
    const results = (length: number, character: string) => [{ call_id: 'a', result: character.repeat(length) }];
    expect(answersOf(results(RESULTS_BYTES_MAX - 100, 'x'))).toHaveLength(1);
    expect(() => answersOf(results(RESULTS_BYTES_MAX, 'x'))).toThrow(refusedAs('too-large'));
    expect(() => answersOf(results(RESULTS_BYTES_MAX / 4, '"'))).toThrow(refusedAs('too-large'));
    const comment = '\u0001'.repeat(COMMENT_CHARACTERS_MAX);
    const denials = Array.from({ length: 50 }, (_, index) => ({ call_id: `${index}`, decision: 'denied', comment }));
    expect(() => answersOf(denials)).toThrow(refusedAs('too-large'));
  });
});

describe('the functions of a caller', () => {
  it('may have the form of OpenAI’s API or no wrapper', () => {
    const parameters = { type: 'object', properties: { a: { type: 'string' } } };
    expect(
      clientToolsOf([{ type: 'function', function: { name: 'one', description: 'Does one', parameters } }, { name: 'two' }]),
    ).toEqual([
      { name: 'one', description: 'Does one', parameters },
      { name: 'two', description: '', parameters: { type: 'object', properties: {} } },
    ]);
  });
  it.each([
    ['client_tools[0] must be a function', 'one'],
    ['client_tools[0].name', {}],
    ['client_tools[0].name', { function: { name: '' } }],
    ['client_tools[0].description', { name: 'one', description: 7 }],
    ['client_tools[0].parameters', { name: 'one', parameters: [] }],
  ])('are refused with %s', (message, tool) => {
    expect(() => clientToolsOf([tool])).toThrow(refusedAs('invalid-request', message));
  });
  it('are limited in number and in bytes', () => {
    const tools = Array.from({ length: CLIENT_TOOLS_MAX }, (_, index) => ({ name: `tool_${index}` }));
    expect(clientToolsOf(tools)).toHaveLength(CLIENT_TOOLS_MAX);
    expect(() => clientToolsOf([...tools, { name: 'one_more' }])).toThrow(refusedAs('invalid-request', 'entries'));
    const described = (bytes: number) => [{ name: 'one', description: 'x'.repeat(bytes) }];
    expect(clientToolsOf(described(CLIENT_TOOLS_BYTES_MAX - 100))).toHaveLength(1);
    expect(() => clientToolsOf(described(CLIENT_TOOLS_BYTES_MAX))).toThrow(refusedAs('invalid-request', 'bytes'));
  });
});
