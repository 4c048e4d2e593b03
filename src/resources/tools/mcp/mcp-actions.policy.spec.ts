import { describe, expect, it } from '@jest/globals';
import { actionsOf, MCP_DEFINITIONS_BYTES_MAX, MCP_DESCRIPTION_CHARACTERS_MAX, MCP_TOOLS_MAX } from './mcp-actions.policy.js';

const tool = (name: string, more: object = {}) => ({ name, inputSchema: { type: 'object' }, ...more });

describe('the actions of a server', () => {
  it('hold the whole schema of their parameters', () => {
    const inputSchema = {
      type: 'object',
      properties: { at: { $ref: '#/$defs/time' }, anything: true },
      required: ['at', 7],
      $defs: { time: { type: 'string' } },
      additionalProperties: false,
    };
    expect(actionsOf([tool('plan', { inputSchema })])[0]!.parameters).toEqual({
      ...inputSchema,
      properties: {
        at: { $ref: '#/$defs/time', filled_by_llm: true, value: '' },
        anything: { filled_by_llm: true, value: '' },
      },
      required: ['at'],
    });
  });

  it('hold nothing that the server did not send', () => {
    expect(actionsOf([tool('a', { annotations: { title: 'A', readOnlyHint: 'yes' } })])[0]).toEqual({
      name: 'a',
      description: '',
      active: true,
      parameters: { type: 'object', properties: {}, required: [] },
    });
  });

  it('are unique by name', () => {
    expect(actionsOf([tool('a'), tool('b'), tool('a', { description: 'newer' })]).map(({ name }) => name)).toEqual(['a', 'b']);
  });

  it('are limited in number, in the length of descriptions and in total size', () => {
    const many = Array.from({ length: MCP_TOOLS_MAX + 1 }, (_, index) => tool(`t${index}`));
    expect(actionsOf(many.slice(1))).toHaveLength(MCP_TOOLS_MAX);
    expect(() => actionsOf(many)).toThrow('more than');
    const [long] = actionsOf([tool('a', { description: 'x'.repeat(MCP_DESCRIPTION_CHARACTERS_MAX + 1) })]);
    expect(long!.description).toHaveLength(MCP_DESCRIPTION_CHARACTERS_MAX);
    const inputSchema = { type: 'object', description: 'x'.repeat(MCP_DEFINITIONS_BYTES_MAX) };
    expect(() => actionsOf([tool('a', { inputSchema })])).toThrow('bytes');
  });
});
