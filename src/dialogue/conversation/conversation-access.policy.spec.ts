import { describe, expect, it } from '@jest/globals';
import { turnSettings } from '../../../test/support/turn-settings.js';
import type { AgentKeyCaller, Caller, SignedInUser } from '../../resources/identity/caller.js';
import { belongsTo } from './conversation-access.policy.js';
import { conversation } from './conversation.decider.js';
import type { ConversationEvent, ConversationStarted } from './conversation.events.js';

const cause = { actor: 'somebody', credential: 'session-token', correlationId: 'r1', causationId: 'r1' } as const;
const user = (userId: string): SignedInUser => ({ kind: 'user', userId, roles: ['user'], credential: 'session-token', cause });
const key = (more: Partial<AgentKeyCaller> = {}): AgentKeyCaller => ({
  ...{ kind: 'agent-key', agentId: 'a1', ownerId: 'alice', keyId: 'key-1', signedIn: undefined, cause },
  ...more,
});

const started = (more: Partial<ConversationStarted['data']>): ConversationEvent => ({
  type: 'ConversationStarted',
  data: {
    ...{ conversationId: 'c1', ownerId: 'alice', agentId: 'a1', name: 'Why?', visibility: 'listed', sharedUsage: false },
    history: [],
    ...more,
  },
});
const asked = (turnId: string, agentKeyId: string | null): ConversationEvent => ({
  type: 'TurnAsked',
  data: {
    ...{ conversationId: 'c1', turnId, index: 0, question: 'Why?', requestId: 'r1' },
    settings: turnSettings({ agentId: 'a1', agentKeyId }),
  },
});
const after = (...events: readonly ConversationEvent[]) => events.reduce(conversation.evolve, conversation.initial);

const SIGNED_IN = after(started({ agentKeyId: null }), asked('t1', null));
const WITH_KEY = after(started({ agentKeyId: 'key-1' }), asked('t1', 'key-1'));

/** Callers, each with access to a conversation that Alice began signed in, and to one that was begun with her agent's key. */
const PARTIES: readonly (readonly [name: string, caller: Caller, signedIn: boolean, withKey: boolean])[] = [
  ['its owner', user('alice'), true, true],
  ['another user', user('bob'), false, false],
  ['the key', key(), false, true],
  ['the key after it was regenerated', key({ keyId: 'key-2' }), false, true],
  ['a key of another agent of the owner', key({ agentId: 'a2' }), false, false],
  ['a key of an agent of that id of another owner', key({ ownerId: 'bob' }), false, false],
  ['the key sent by its owner signed in', key({ signedIn: user('alice') }), false, true],
  ['the key sent by another user', key({ signedIn: user('bob') }), false, true],
];

describe.each(PARTIES)('%s', (_, caller, signedIn, withKey) => {
  it(`${signedIn ? 'has' : 'does not have'} a conversation that its owner began signed in`, () =>
    expect(belongsTo(SIGNED_IN, caller)).toBe(signedIn));
  it(`${withKey ? 'has' : 'does not have'} one that was begun with the agent's key`, () =>
    expect(belongsTo(WITH_KEY, caller)).toBe(withKey));
  it('does not have a conversation that is deleted or never began', () => {
    const deleted = conversation.evolve(WITH_KEY, { type: 'ConversationDeleted', data: { conversationId: 'c1' } });
    expect([belongsTo(deleted, caller), belongsTo(conversation.initial, caller)]).toEqual([false, false]);
  });
});

it('access follows the beginning of a conversation: later questions neither give it to a key nor take it from one', () => {
  expect(belongsTo(conversation.evolve(SIGNED_IN, asked('t2', 'key-1')), key())).toBe(false);
  expect(belongsTo(conversation.evolve(WITH_KEY, asked('t2', null)), key())).toBe(true);
});

describe('a conversation whose first event names no key', () => {
  it('belongs to the caller of its first question', () => {
    expect(belongsTo(after(started({}), asked('t1', 'key-1'), asked('t2', null)), key())).toBe(true);
    expect(belongsTo(after(started({}), asked('t1', null), asked('t2', 'key-1')), key())).toBe(false);
  });
  it('belongs only to its owner while it has no question', () => {
    expect([belongsTo(after(started({})), key()), belongsTo(after(started({})), user('alice'))]).toEqual([false, true]);
  });
});
