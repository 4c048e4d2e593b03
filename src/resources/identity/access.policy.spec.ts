import { describe, expect, it } from '@jest/globals';
import { admin, alice, bearer, key, NO_CALLER, reader, refused } from '../../../test/support/callers.js';
import { FAMILIES, type Place, type RouteAccess } from '../../kernel/access.js';
import { mayResume, refusalOf, requireAccess, visible } from './access.policy.js';
import type { Act, Beginning, NamedByQuestion, Who } from './acts.policy.js';
import type { Caller, TokenGrant } from './caller.js';

const READ: RouteAccess = { for: 'user', action: 'read', of: 'agents', scopes: ['agents:read'], at: { in: 'query', name: 'id' } };
const enter = (route: RouteAccess | undefined, ids: Readonly<Record<string, readonly unknown[]>> = {}): Act => ({
  does: 'enter',
  route,
  named: ({ name }: Place) => ids[name] ?? [],
});

describe('a route', () => {
  it.each([
    ['anyone', 'allowed', 'allowed', 'allowed', 'allowed'],
    ['capability', 'allowed', 'allowed', 'allowed', 'allowed'],
    ['user', NO_CALLER, NO_CALLER, 'allowed', 'allowed'],
    ['caller', NO_CALLER, 'allowed', 'allowed', 'allowed'],
    ['key', NO_CALLER, 'allowed', NO_CALLER, 'allowed'],
  ] as const)(
    'for %s answers no credential with %j, a key with %j, a user with %j, a user who sends a key with %j',
    (audience, ...outcomes) => {
      const visitors = [undefined, key, alice, { ...key, signedIn: alice }];
      expect(visitors.map((who) => refused(who, enter({ ...READ, for: audience })))).toEqual(outcomes);
    },
  );

  it('admits readers of a link only if it says so', () => {
    const asking = { ...READ, for: 'caller' } as const;
    expect(refused(reader, enter({ ...asking, links: 'too' }))).toBe('allowed');
    for (const route of [asking, { ...asking, for: 'key' }, { ...asking, for: 'user' }] as const)
      expect(refused(reader, enter(route))).toEqual(NO_CALLER);
  });

  it('without a declaration is closed to every caller', () => {
    for (const who of [undefined, alice, admin, key]) expect(refused(who, enter(undefined))).toEqual([403, 'not-allowed']);
  });

  it('without scopes or without a declaration is closed to every token', () => {
    const { scopes: _, ...undeclared } = READ;
    for (const route of [undeclared, undefined]) {
      expect(refused(bearer(), enter(route))).toEqual([403, 'not-available-to-tokens']);
    }
  });

  it('is open to a token with one of its scopes, and a write scope includes reading but not the reverse', () => {
    expect(refused(bearer({ scopes: ['agents:write'] }), enter(READ))).toBe('allowed');
    expect(refused(bearer({ scopes: ['agents:read'] }), enter(READ))).toBe('allowed');
    const change = enter({ ...READ, action: 'change', scopes: ['agents:write'] });
    for (const scope of ['agents:read', 'agents:keys', 'sources:write'] as const)
      expect(refused(bearer({ scopes: [scope] }), change)).toEqual([403, 'insufficient-scope']);
    expect(refused(bearer({ scopes: ['agents:read'] }), enter({ ...READ, scopes: 'any-token' }))).toBe('allowed');
  });

  it('is restricted by a token even if the request also has an agent’s key', () => {
    expect(refused({ ...key, signedIn: bearer({ scopes: ['sources:read'] }) }, enter(READ))).toEqual([403, 'insufficient-scope']);
  });
});

describe('a token that is restricted to some agents', () => {
  const restricted = bearer({ resources: { agents: ['a1', 'a2'] } });

  it.each<[string, readonly unknown[], unknown]>([
    ['one of its list', ['a1'], 'allowed'],
    ['another one', ['a3'], [403, 'resource-not-allowed']],
    ['one of its list and another one', ['a1', 'a3'], [403, 'resource-not-allowed']],
    ['something that is not a string', [{ id: 'a1' }], [403, 'resource-not-allowed']],
    ['none', [], [403, 'resource-not-allowed']],
  ])('that names %s', (_, id, outcome) => expect(refused(restricted, enter(READ, { id }))).toEqual(outcome));

  it('cannot create agents, and sees only its own in lists', () => {
    expect(refused(restricted, enter({ ...READ, action: 'create' }, { id: ['a1'] }))).toEqual([403, 'resource-not-allowed']);
    expect(refused(restricted, enter({ ...READ, action: 'list' }))).toBe('allowed');
    expect(refused(restricted, enter({ ...READ, action: 'describe' }))).toBe('allowed');
    expect(visible(restricted, 'agents', [{ id: 'a1' }, { id: 'a3' }])).toEqual([{ id: 'a1' }]);
    expect(visible(bearer(), 'agents', [{ id: 'a3' }])).toEqual([{ id: 'a3' }]);
  });

  it('is refused on routes that cannot enforce the restriction, and for references to other agents', () => {
    expect(refused(restricted, enter({ ...READ, closedToRestricted: FAMILIES }, { id: ['a1'] }))).toEqual([
      403,
      'resource-not-allowed',
    ]);
    const refs = [{ family: 'agents', in: 'path', name: 'agentId' }] as const;
    const route: RouteAccess = { for: 'user', action: 'create', of: 'schedules', scopes: 'any-token', refs };
    expect(refused(restricted, enter(route, { agentId: ['a1'] }))).toBe('allowed');
    expect(refused(restricted, enter(route, { agentId: ['a3'] }))).toEqual([403, 'resource-not-allowed']);
  });
});

describe('a resource', () => {
  const reach = (ownerId: string, family?: 'agents'): Act => ({
    does: 'reach',
    thing: { id: 'a3', ownerId },
    ...(family && { family }),
  });

  it('is accessible to its owner, and not found for others', () => {
    expect(refused(alice, reach('alice'))).toBe('allowed');
    expect(refused(key, reach('alice'))).toBe('allowed');
    for (const who of [admin, bearer()]) expect(refused(who, reach('bob'))).toEqual([404, 'not-found']);
    expect(refused(alice, { does: 'reach', thing: undefined })).toEqual([404, 'not-found']);
    expect(refused(undefined, reach('alice'))).toEqual([401, 'unauthenticated']);
  });

  it('of the owner is not accessible to a token that is restricted to others of its family', () => {
    expect(refused(bearer({ resources: { agents: ['a1'] } }), reach('alice', 'agents'))).toEqual([403, 'resource-not-allowed']);
    expect(refused(bearer({ resources: { agents: ['a1'] } }), { does: 'refer', family: 'agents', ids: ['a1'] })).toBe('allowed');
  });
});

describe('a question', () => {
  const plain: NamedByQuestion = { agentId: null, sources: [], promptId: null, continuedAgentId: undefined };
  const ask = (question: Partial<NamedByQuestion> = {}): Act => ({ does: 'ask', question: { ...plain, ...question } });
  const NO = [403, 'resource-not-allowed'];

  it('is not restricted for callers without a restricted token', () => {
    for (const who of [alice, key, bearer(), undefined]) expect(refused(who, ask({ agentId: 'a9' }))).toBe('allowed');
  });

  it.each<[string, TokenGrant['resources'], Partial<NamedByQuestion>, unknown]>([
    ['one of its agents', { agents: ['a1'] }, { agentId: 'a1' }, 'allowed'],
    ['another agent', { agents: ['a1'] }, { agentId: 'a2' }, NO],
    ['no agent', { agents: ['a1'] }, {}, NO],
    ['its agent in a conversation with it', { agents: ['a1'] }, { agentId: 'a1', continuedAgentId: 'a1' }, 'allowed'],
    ['its agent in a conversation with another', { agents: ['a1'] }, { agentId: 'a1', continuedAgentId: 'a2' }, NO],
    ['its agent in a conversation with none', { agents: ['a1'] }, { agentId: 'a1', continuedAgentId: null }, NO],
    ['its sources', { sources: ['s1'] }, { sources: ['s1'] }, 'allowed'],
    ['another source', { sources: ['s1'] }, { sources: ['s1', 's2'] }, NO],
    ['an agent, if it is restricted to sources', { sources: ['s1'] }, { agentId: 'a1' }, NO],
    ['a conversation with an agent, if it is restricted to sources', { sources: ['s1'] }, { continuedAgentId: 'a1' }, NO],
    ['its agent and another source', { agents: ['a1'], sources: ['s1'] }, { agentId: 'a1', sources: ['s2'] }, NO],
    ['its agent and another prompt', { agents: ['a1'], prompts: ['p1'] }, { agentId: 'a1', promptId: 'p2' }, NO],
    ['its prompt alone', { prompts: ['p1'] }, { promptId: 'p1' }, NO],
    ['anything, if it is restricted to tools', { agents: ['a1'], tools: ['x'] }, { agentId: 'a1' }, NO],
  ])('of a restricted token to %s', (_, resources, question, outcome) =>
    expect(refused(bearer({ resources }), ask(question))).toEqual(outcome),
  );

  it('with a key and a restricted token is refused', () =>
    expect(refused({ ...key, signedIn: bearer({ resources: { agents: ['a1'] } }) }, ask({ agentId: 'a1' }))).toEqual(NO));
});

describe('a conversation', () => {
  const begun = { status: 'open', ownerId: 'alice', agentId: 'a1', agentKeyId: 'k0' } as const;
  const replay = (askedWith: string | undefined): Act => ({ does: 'replay', conversation: begun, askedWith });

  it('is open to its owner and to the holders of its agent’s key', () => {
    for (const who of [alice, key, bearer()]) expect(refused(who, { does: 'join', conversation: begun })).toBe('allowed');
    for (const who of [admin, { ...key, agentId: 'a2' }, undefined])
      expect(refused(who, { does: 'join', conversation: begun })).toEqual([404, 'not-found']);
    const bySession = { ...begun, agentKeyId: null };
    expect(refused(key, { does: 'join', conversation: bySession })).toEqual([404, 'not-found']);
    expect(refused(alice, { does: 'join', conversation: { ...begun, status: 'deleted' } })).toEqual([404, 'not-found']);
  });

  it('of a reader of a link is open to the readers of that link and to its owner, but not to a key', () => {
    const ofReader = { ...begun, agentKeyId: 'link:l1' };
    const join = (who: Who, conversation: Beginning = ofReader) => refused(who, { does: 'join', conversation });
    for (const who of [alice, reader]) expect(join(who)).toBe('allowed');
    for (const who of [key, { ...reader, linkId: 'l2' }, { ...reader, ownerId: 'bob' }])
      expect(join(who)).toEqual([404, 'not-found']);
    expect(join(reader, begun)).toEqual([404, 'not-found']);
    expect(join(reader, { ...begun, agentKeyId: null })).toEqual([404, 'not-found']);
  });

  it('is replayed by a restricted token only if that token asked, and always by an unrestricted one', () => {
    const restricted = bearer({ resources: { agents: ['a1'] } });
    expect(refused(restricted, replay('t1'))).toBe('allowed');
    for (const other of ['t2', undefined]) {
      expect(refused(restricted, replay(other))).toEqual([404, 'not-found']);
      expect(refused(bearer(), replay(other))).toBe('allowed');
    }
  });

  it('is resumed by a token only if that token asked', () => {
    expect([mayResume(bearer(), 't1'), mayResume(bearer(), undefined), mayResume(bearer(), 't2')]).toEqual([true, false, false]);
    expect([mayResume(alice, 't1'), mayResume(key, 't1')]).toEqual([true, true]);
  });
});

it('complete keys are shown to sessions and to tokens with the scope for keys, and the data of all users to administrators', () => {
  expect(refused(alice, { does: 'see-keys' })).toBe('allowed');
  expect(refused(bearer({ scopes: ['agents:write'] }), { does: 'see-keys' })).toEqual([403, 'insufficient-scope']);
  expect(refused(bearer({ scopes: ['agents:keys'] }), { does: 'see-keys' })).toBe('allowed');
  expect(refused(admin, { does: 'see-all' })).toBe('allowed');
  for (const who of [alice, key, undefined]) expect(refused(who, { does: 'see-all' })).toEqual([403, 'not-allowed']);
});

it('a refusal names the missing scope, and a missing resource gets its own error', () => {
  const act = enter({ ...READ, scopes: ['sources:read', 'chat:run'] });
  expect(() => requireAccess(bearer({ scopes: ['agents:read'] }), act)).toThrow(
    expect.objectContaining({ code: 'insufficient-scope', details: { required_scope: 'sources:read' } }),
  );
  expect(() => requireAccess(alice, { does: 'reach', thing: undefined }, () => new Error('No agent') as never)).toThrow(
    'No agent',
  );
});

describe("another user's resource with a grant", () => {
  const thing = { id: 'a1', ownerId: 'carol' };
  const grant = (level: 'viewer' | 'editor') => ({ level, switches: {} });
  const reach = (who: Caller, more: object) => refusalOf(who, { does: 'reach', thing, family: 'agents', ...more })?.status;

  it.each([
    ['viewer', 'use', undefined],
    ['viewer', 'edit', 403],
    ['viewer', undefined, 403],
    ['editor', 'edit', undefined],
    ['editor', 'delete', 403],
    ['editor', undefined, 403],
  ] as const)('for a %s who needs %s, the refusal is %s', (level, needs, status) => {
    expect(reach(alice, { grant: grant(level), needs })).toBe(status);
  });

  it('is not found without a grant, and for the holder of a key', () => {
    expect(reach(alice, { needs: 'use' })).toBe(404);
    expect(reach(key, { grant: grant('editor'), needs: 'use' })).toBe(404);
  });

  it('is closed to a token that is restricted to other resources', () => {
    const restricted = bearer({ resources: { agents: ['a2'] } });
    expect(reach(restricted, { grant: grant('viewer'), needs: 'use' })).toBe(403);
  });
});
