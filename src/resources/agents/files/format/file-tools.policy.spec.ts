import { expect, it } from '@jest/globals';
import { Fields } from './file-fields.policy.js';
import { toolIn } from './file-tools.policy.js';

const read = (tool: Record<string, unknown>) => {
  const unknown: string[] = [];
  return { tool: toolIn(new Fields(tool, 'spec.tools[0]', unknown)), unknown };
};
const choicesOf = (...actions: object[]) => {
  const { tool } = read({ type: 'api_tool', actions });
  return tool.builtin ? [] : tool.actions;
};

it('a built-in tool has only a type and a reference', () => {
  const { tool, unknown } = read({ type: 'memory', builtin: true, ref: 'r', config: { a: 1 } });
  expect([tool, unknown]).toEqual([{ builtin: true, type: 'memory', ref: 'r' }, ['spec.tools[0].config']]);
});

it('a tool whose secrets are not listed differs from one that needs none', () => {
  const secretsOf = (more: object) => (read({ type: 'x', ...more }).tool as { requires_secrets?: unknown }).requires_secrets;
  expect([secretsOf({}), secretsOf({ requires_secrets: null }), secretsOf({ requires_secrets: [] })]).toEqual([
    undefined,
    undefined,
    [],
  ]);
});

it('a choice has only what the file sets', () => {
  expect(choicesOf({ name: 'a' }, { name: 'b', active: false, require_approval: true, access: 'write' })).toEqual([
    { name: 'a' },
    { name: 'b', active: false, require_approval: true, access: 'write' },
  ]);
});

it.each(['parameters', 'query_params', 'headers', 'body'])('the parameters of a choice may be under %s', (group) => {
  const given = { a: { filled_by_llm: false, value: 0, other: 1 }, b: { value: null }, c: {} };
  expect(choicesOf({ name: 'look', [group]: given })).toEqual([
    { name: 'look', parameters: { a: { filled_by_llm: false, value: 0 }, b: {}, c: {} } },
  ]);
});

it.each([
  [{ name: '' }, 'spec.tools[0].actions[0].name is required'],
  [{ name: 'a', access: 'all' }, 'spec.tools[0].actions[0].access must be read or write'],
  [{ name: 'a', body: { city: 'Bonn' } }, 'spec.tools[0].actions[0].body.city must be a mapping'],
  [{ name: 'a', headers: { key: { filled_by_llm: 1 } } }, 'spec.tools[0].actions[0].headers.key must say true or false'],
])('the choice %j is refused', (choice, message) => expect(() => choicesOf(choice)).toThrow(message));

it('an API tool has at most 100 actions, and a tool has settings for at most 200', () => {
  const actions = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, n) => [`a${n}`, {}]));
  const choices = (count: number) => Array.from({ length: count }, (_, n) => ({ name: `a${n}` }));
  read({ type: 'api_tool', config: { actions: actions(100) }, actions: choices(200) });
  expect(() => read({ type: 'api_tool', config: { actions: actions(101) } })).toThrow('Too many api_tool actions (max 100)');
  expect(() => read({ type: 'x', actions: choices(201) })).toThrow('spec.tools[0].actions must have at most 200 entries');
  expect(() => read({ type: 'x', config: { actions: actions(101) } })).not.toThrow();
});
