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

describe('the access of an action', () => {
  it.each([
    [
      'is set by its owner',
      'api_tool',
      { access: 'read', method: 'POST', name: 'delete', annotations: { readOnlyHint: false } },
      'read',
    ],
    ['is set by its owner', 'mcp_tool', { access: 'write', name: 'get', annotations: { readOnlyHint: true } }, 'write'],
    ['is read by the hint of its server', 'mcp_tool', { name: 'delete_all', annotations: { readOnlyHint: true } }, 'read'],
    [
      'is read if the hints contradict each other',
      'mcp_tool',
      { annotations: { readOnlyHint: true, destructiveHint: true } },
      'read',
    ],
    [
      'is write by the destructive hint of its server',
      'mcp_tool',
      { name: 'get', annotations: { destructiveHint: true } },
      'write',
    ],
    [
      'is write if its server says that it does not only read',
      'mcp_tool',
      { name: 'get', annotations: { readOnlyHint: false } },
      'write',
    ],
    [
      'does not follow from the hint that it is not destructive',
      'mcp_tool',
      { name: 'get', annotations: { destructiveHint: false } },
      'read',
    ],
    ['is read by its HTTP method', 'api_tool', { name: 'delete_user', method: 'get' }, 'read'],
    ['is write by its HTTP method', 'api_tool', { name: 'get_user', method: 'POST' }, 'write'],
    ['does not follow from a method outside API tools', 'mcp_tool', { name: 'get_user', method: 'POST' }, 'read'],
    ['is read by a word of its name', 'brave', { name: 'brave_web_search' }, 'read'],
    ['is read by a word in camel case', 'mcp_tool', { name: 'listOpenIssues' }, 'read'],
    ['is read by a word after an abbreviation', 'mcp_tool', { name: 'HTTPFetch' }, 'read'],
    ['is write by a writing word beside a reading one', 'mcp_tool', { name: 'getOrCreatePage' }, 'write'],
    ['is write by a word of its name', 'memory', { name: 'memory_str_replace' }, 'write'],
    ['is read by the word view', 'notes', { name: 'note_view' }, 'read'],
    ['does not follow from a part of a word', 'mcp_tool', { name: 'forget' }, 'write'],
    ['is write if nothing is known', 'mcp_tool', { name: 'frobnicate' }, 'write'],
  ] as const)('%s', (_, kind, more, expected) => expect(accessOf(kind, action(more))).toBe(expected));
});

it.each([
  ['set by its kind', { idempotent: true, name: 'delete' }, true],
  ['denied by its kind', { idempotent: false, name: 'get', annotations: { idempotentHint: true } }, false],
  ['set by its server', { name: 'delete', annotations: { idempotentHint: true } }, true],
  ['given if it only reads', { name: 'get' }, true],
  ['missing if it writes', { name: 'send' }, false],
] as const)('the idempotency of an action: %s', (_, more, expected) => expect(isIdempotent('x', action(more))).toBe(expected));

describe('a tool', () => {
  it.each([
    ['acts for its owner if it has secrets', { name: 'ntfy', config: {}, credentialsId: 'c1' }, true],
    ['acts for its owner if it calls an API', { name: 'api_tool', config: {}, credentialsId: null }, true],
    [
      'acts for its owner if it is signed in to a tool server',
      { name: 'mcp_tool', config: { auth_type: 'oauth' }, credentialsId: null },
      true,
    ],
    [
      'does not act for its owner at an open tool server',
      { name: 'mcp_tool', config: { auth_type: 'none' }, credentialsId: null },
      false,
    ],
    [
      'does not act for its owner at a tool server without an auth type',
      { name: 'mcp_tool', config: {}, credentialsId: null },
      false,
    ],
    ['does not act for its owner without secrets', { name: 'memory', config: {}, credentialsId: null }, false],
  ])('%s', (_, definition, expected) => expect(actsForOwner(definition)).toBe(expected));

  it('that acts for its owner has its active writing actions listed', () => {
    const actions = [action({ name: 'send' }), action({ name: 'send_later', active: false }), action({ name: 'list' })];
    const definition = { name: 'telegram', config: {}, actions };
    expect(ownerCredentialWrites({ ...definition, credentialsId: 'c1' })).toEqual(['send']);
    expect(ownerCredentialWrites({ ...definition, credentialsId: null })).toEqual([]);
  });
});
