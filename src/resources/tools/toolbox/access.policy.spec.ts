import { describe, expect, it } from '@jest/globals';
import { accessOf, actsForOwner, isIdempotent, ownerCredentialWrites } from './access.policy.js';
import type { ActionDefinition } from './tool.events.js';

const action = (more: Partial<ActionDefinition>): ActionDefinition => ({
  name: 'act',
  description: '',
  active: true,
  parameters: { type: 'object', properties: {} },
  ...more,
});

describe('an action reads or writes', () => {
  it.each([
    [
      'its owner says so',
      'api_tool',
      { access: 'read', method: 'POST', name: 'delete', annotations: { readOnlyHint: false } },
      'read',
    ],
    ['its owner says so', 'mcp_tool', { access: 'write', name: 'get', annotations: { readOnlyHint: true } }, 'write'],
    ['its server says it only reads', 'mcp_tool', { name: 'delete_all', annotations: { readOnlyHint: true } }, 'read'],
    ['reading goes before destroying', 'mcp_tool', { annotations: { readOnlyHint: true, destructiveHint: true } }, 'read'],
    ['its server says it destroys', 'mcp_tool', { name: 'get', annotations: { destructiveHint: true } }, 'write'],
    ['its server says it does not only read', 'mcp_tool', { name: 'get', annotations: { readOnlyHint: false } }, 'write'],
    ['not destructive says nothing', 'mcp_tool', { name: 'get', annotations: { destructiveHint: false } }, 'read'],
    ['its method reads', 'api_tool', { name: 'delete_user', method: 'get' }, 'read'],
    ['its method writes', 'api_tool', { name: 'get_user', method: 'POST' }, 'write'],
    ['only calls of APIs have a method', 'mcp_tool', { name: 'get_user', method: 'POST' }, 'read'],
    ['a reading word', 'brave', { name: 'brave_web_search' }, 'read'],
    ['a reading word in camel case', 'mcp_tool', { name: 'listOpenIssues' }, 'read'],
    ['a reading word after an abbreviation', 'mcp_tool', { name: 'HTTPFetch' }, 'read'],
    ['a writing word beside a reading one', 'mcp_tool', { name: 'getOrCreatePage' }, 'write'],
    ['a writing word', 'memory', { name: 'memory_str_replace' }, 'write'],
    ['a view', 'notes', { name: 'note_view' }, 'read'],
    ['a part of a word is no word', 'mcp_tool', { name: 'forget' }, 'write'],
    ['nothing known', 'mcp_tool', { name: 'frobnicate' }, 'write'],
  ] as const)('%s', (_, kind, more, expected) => expect(accessOf(kind, action(more))).toBe(expected));
});

it.each([
  ['its kind says so', { idempotent: true, name: 'delete' }, true],
  ['its kind says no', { idempotent: false, name: 'get', annotations: { idempotentHint: true } }, false],
  ['its server says so', { name: 'delete', annotations: { idempotentHint: true } }, true],
  ['it only reads', { name: 'get' }, true],
  ['it writes', { name: 'send' }, false],
] as const)('an action may be repeated: %s', (_, more, expected) => expect(isIdempotent('x', action(more))).toBe(expected));

describe('a tool acts for its owner', () => {
  it.each([
    ['with secrets', { name: 'ntfy', config: {}, credentialsId: 'c1' }, true],
    ['where it calls an API', { name: 'api_tool', config: {}, credentialsId: null }, true],
    ['signed in to a tool server', { name: 'mcp_tool', config: { auth_type: 'oauth' }, credentialsId: null }, true],
    ['not at an open tool server', { name: 'mcp_tool', config: { auth_type: 'none' }, credentialsId: null }, false],
    ['not at a tool server of which nothing is said', { name: 'mcp_tool', config: {}, credentialsId: null }, false],
    ['not without secrets', { name: 'memory', config: {}, credentialsId: null }, false],
  ])('%s', (_, definition, expected) => expect(actsForOwner(definition)).toBe(expected));

  it('and then its writing actions that are switched on need leave', () => {
    const actions = [action({ name: 'send' }), action({ name: 'send_later', active: false }), action({ name: 'list' })];
    const definition = { name: 'telegram', config: {}, actions };
    expect(ownerCredentialWrites({ ...definition, credentialsId: 'c1' })).toEqual(['send']);
    expect(ownerCredentialWrites({ ...definition, credentialsId: null })).toEqual([]);
  });
});
