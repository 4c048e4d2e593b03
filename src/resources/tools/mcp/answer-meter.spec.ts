import { describe, expect, it } from '@jest/globals';
import { AnswerMeter, MCP_ITEMS_MAX, MCP_MESSAGES_MAX } from './answer-meter.js';
import { JSON_ENTRIES_MAX } from '../../../kernel/bounded-json.js';

const response = (result: object): string => JSON.stringify({ jsonrpc: '2.0', id: 1, result });
const many = (count: number, value: unknown = {}): unknown[] => Array.from({ length: count }, () => value);

describe('the meter of a response', () => {
  it.each([
    ['a long list of tools', { tools: many(MCP_ITEMS_MAX, { name: 'a', inputSchema: { type: 'object' } }) }],
    ['much content', { content: many(MCP_ITEMS_MAX, { type: 'text', text: '' }) }],
    ['long structured content', { content: [], structuredContent: many(JSON_ENTRIES_MAX / 2) }],
    ['a schema with many parameters', { tools: [{ inputSchema: { required: many(JSON_ENTRIES_MAX / 2, 'a') } }] }],
  ])('admits %s', (_, result) => {
    expect(new AnswerMeter().admits(response(result))).toBe(true);
  });

  it.each([
    ['content with too many items', { content: many(MCP_ITEMS_MAX + 1) }],
    ['an item with too many parts', { content: [{ annotations: { audience: many(MCP_ITEMS_MAX) } }] }],
    ['too many tools', { tools: many(MCP_ITEMS_MAX + 1) }],
    ['too many entries', { structuredContent: many(JSON_ENTRIES_MAX + 1) }],
  ])('refuses %s', (_, result) => {
    expect(() => new AnswerMeter().admits(response(result))).toThrow(expect.objectContaining({ name: 'AnswerTooLarge' }));
  });

  it('counts the items of all messages together', () => {
    const meter = new AnswerMeter();
    const half = response({ content: many(MCP_ITEMS_MAX / 2) });
    meter.admits(half);
    meter.admits(half);
    expect(() => meter.admits(response({ content: [{}] }))).toThrow('items');
    expect(() => new AnswerMeter().admits(`[${half},${half},${half}]`)).toThrow('items');
  });

  it.each([
    ['request', { jsonrpc: '2.0', id: 1, method: 'ping' }],
    ['notification', { jsonrpc: '2.0', method: 'notifications/progress' }],
    ['other', 1],
  ] as const)('admits a limited number of messages of the kind "%s"', (kind, message) => {
    const meter = new AnswerMeter();
    const text = JSON.stringify(message);
    const admitted = many(MCP_MESSAGES_MAX[kind] + 5).filter(() => meter.admits(text));
    expect(admitted).toHaveLength(MCP_MESSAGES_MAX[kind]);
    expect(new AnswerMeter().admits(JSON.stringify(many(MCP_MESSAGES_MAX[kind] + 1, message)))).toBe(false);
  });

  it('leaves a text that is not JSON to the client', () => {
    expect(new AnswerMeter().admits('Session not found')).toBe(true);
  });
});
