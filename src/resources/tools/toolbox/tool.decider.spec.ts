import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { eventsUnlessRejected, given } from '../../../../test/support/given.js';
import { defaultTools, switchDefault } from '../defaults/default-tools.decider.js';
import { change, create, remove, tool, type Tool } from './tool.decider.js';
import type { ToolDefinition, ToolEvent } from './tool.events.js';

const toolId = 't1';
const definition: ToolDefinition = {
  name: 'ntfy',
  displayName: 'Messages',
  customName: '',
  description: 'Sends them',
  config: { server: 'https://ntfy.example' },
  credentialsId: 'c1',
  actions: [],
  status: true,
};
const created: ToolEvent = { type: 'ToolCreated', data: { toolId, ownerId: 'alice', definition } };
const deleted: ToolEvent = { type: 'ToolDeleted', data: { toolId } };

describe('a tool', () => {
  it('is created once', () => {
    given(tool, [])
      .when(create(toolId, 'alice', definition))
      .then([created]);
    given(tool, [created])
      .when(create(toolId, 'bob', definition))
      .thenNothing();
  });
  it('that an import creates names the import', () =>
    given(tool, [])
      .when(create(toolId, 'alice', definition, 'i1'))
      .then([{ type: 'ToolCreated', data: { toolId, ownerId: 'alice', definition, importId: 'i1' } }]));
  it('records exactly the fields that changed', () =>
    given(tool, [created])
      .when(change('alice', definition, { ...definition, customName: 'Mine', status: false }))
      .then([{ type: 'ToolChanged', data: { toolId, changes: { customName: 'Mine', status: false } } }]));
  it('refuses new credentials if the stored ones were replaced concurrently', () =>
    given(tool, [created, { type: 'ToolChanged', data: { toolId, changes: { credentialsId: 'c2' } } }])
      .when(change('alice', definition, { credentialsId: 'c3' }))
      .thenRejected('tool-changed-meanwhile'));
  it('keeps concurrent changes to other fields', () =>
    given(tool, [created, { type: 'ToolChanged', data: { toolId, changes: { status: false, customName: 'Theirs' } } }])
      .when(change('alice', definition, { ...definition, config: {}, displayName: 'Mine' }))
      .then([{ type: 'ToolChanged', data: { toolId, changes: { config: {}, displayName: 'Mine' } } }]));
  it.each([
    ['changed', change('bob', definition, { status: false })],
    ['deleted', remove('bob')],
  ])('cannot be %s by another user, to whom it does not exist', (_, decide) =>
    given(tool, [created]).when(decide).thenRejected('tool-not-found'),
  );
  it('cannot be changed after it was deleted', () =>
    given(tool, [created, deleted])
      .when(change('alice', definition, { status: false }))
      .thenRejected('tool-not-found'));
});

describe('a default tool', () => {
  it('is switched on until its user switches it off', () =>
    given(defaultTools, [])
      .when(switchDefault('alice', 'memory', true))
      .thenNothing());
  it('is switched off and on', () => {
    const off = { type: 'DefaultToolSwitchedOff', data: { userId: 'alice', name: 'memory' } } as const;
    given(defaultTools, [])
      .when(switchDefault('alice', 'memory', false))
      .then([off]);
    given(defaultTools, [off])
      .when(switchDefault('alice', 'memory', true))
      .then([{ ...off, type: 'DefaultToolSwitchedOn' }]);
  });
  it('stays switched off while another one is switched on', () => {
    const data = { userId: 'alice', name: 'memory' };
    const others = { userId: 'alice', name: 'search' };
    const past = [
      { type: 'DefaultToolSwitchedOff', data },
      { type: 'DefaultToolSwitchedOff', data: others },
      { type: 'DefaultToolSwitchedOn', data: others },
    ] as const;
    given(defaultTools, past)
      .when(switchDefault('alice', 'memory', true))
      .then([{ type: 'DefaultToolSwitchedOn', data }]);
    given(defaultTools, past)
      .when(switchDefault('alice', 'search', false))
      .then([{ type: 'DefaultToolSwitchedOff', data: others }]);
  });
});

it('a repeated decision appends nothing, and only its owner changes a tool', () => {
  const someone = fc.constantFrom('alice', 'bob');
  const decision = fc.oneof(
    fc
      .tuple(someone, fc.string(), fc.boolean())
      .map(([user, customName, status]) => change(user, definition, { customName, status })),
    fc.tuple(someone, fc.constantFrom('c1', 'c2')).map(([user, credentialsId]) => change(user, definition, { credentialsId })),
    someone.map(remove),
    fc.constant(create(toolId, 'bob', definition)),
  );
  fc.assert(
    fc.property(fc.array(decision, { maxLength: 10 }), (decisions) => {
      let state = [created].reduce<Tool>(tool.evolve, tool.initial);
      for (const decide of decisions) {
        const events = eventsUnlessRejected(decide, state);
        if (!events) continue;
        state = events.reduce<Tool>(tool.evolve, state);
        expect(decide(state)).toEqual([]);
        expect(state.ownerId).toBe('alice');
      }
    }),
    { numRuns: 300 },
  );
});
