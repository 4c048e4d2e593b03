import { expect, it } from '@jest/globals';
import { offeredAction } from '../../../../test/support/tool-turns.js';
import { FUNCTIONS_MAX, OfferedTools, TOOL_NAME_CHARACTERS_MAX } from './offered-tools.js';

const client = (name: string) => ({ name, description: `Runs ${name}`, parameters: { type: 'object' } });
const namesOf = (offered: OfferedTools) => offered.forModel.map(({ name }) => name);

it('actions have their own names if these are unique, otherwise prefixed with the names of their tools', () => {
  const actions = [
    offeredAction('search', { toolName: 'brave' }),
    offeredAction('search', { toolName: 'internal_search' }),
    offeredAction('think', { toolName: 'think' }),
  ];
  const offered = new OfferedTools(actions, [client('pick'), client('think')]);
  expect(namesOf(offered)).toEqual(['pick', 'client_think', 'brave_search', 'internal_search_search', 'think_think']);
  expect(offered.byName('brave_search')).toEqual({ runBy: 'server', action: actions[0] });
  expect(offered.byName('client_think')).toEqual({ runBy: 'client', tool: client('think') });
  expect(offered.byName('search')).toBeUndefined();
});

it('the actions of two tools of one kind have different names', () => {
  const actions = ['tool-1', 'tool-2', 'tool-3'].map((toolId) => offeredAction('send', { toolId }));
  const offered = new OfferedTools(actions, []);
  expect(namesOf(offered)).toEqual(['api_tool_send', 'api_tool_send_2', 'api_tool_send_3']);
  expect(offered.byName('api_tool_send_3')).toEqual({ runBy: 'server', action: actions[2] });
});

it('names are valid for model endpoints and unique, also for many equal names', () => {
  const long = 'ü'.repeat(2 * TOOL_NAME_CHARACTERS_MAX);
  const tools = Array.from({ length: FUNCTIONS_MAX - 2 }, () => client(long));
  const offered = new OfferedTools([offeredAction('send a card!'), offeredAction('')], tools);
  const names = namesOf(offered);
  expect(new Set(names).size).toBe(FUNCTIONS_MAX);
  expect(offered.notice).toBeUndefined();
  for (const name of names) expect(name).toMatch(new RegExp(`^[\\w-]{1,${TOOL_NAME_CHARACTERS_MAX}}$`));
  expect(names).toEqual(expect.arrayContaining(['send_a_card_', 'tool']));
  expect(offered.size).toBe(names.length);
});

it('the model gets the description and the parameters of an action', () => {
  const parameters = { type: 'object', properties: { to: { type: 'string' } } };
  expect(new OfferedTools([offeredAction('send', { parameters })], []).forModel).toEqual([
    { name: 'send', description: 'Does send', parameters },
  ]);
});

it(`of more than ${FUNCTIONS_MAX} functions the first ones are offered, with a notice for the user`, () => {
  const actions = Array.from({ length: FUNCTIONS_MAX + 1 }, (_, index) => offeredAction(`action_${index}`));
  const offered = new OfferedTools(actions, []);
  expect([offered.size, offered.total, namesOf(offered).at(-1)]).toEqual([128, 129, 'action_127']);
  expect(offered.byName('action_128')).toBeUndefined();
  expect(offered.notice).toBe('The model is offered the first 128 of 129 functions; the others were left out.');
});
