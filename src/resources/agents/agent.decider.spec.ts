import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { eventsUnlessRejected, given } from '../../../test/support/given.js';
import {
  type Agent,
  agent,
  type AgentChange,
  create,
  endLink,
  importInto,
  mintWebhook,
  pin,
  regenerateKey,
  remove,
  shareByLink,
  unpin,
  update,
} from './agent.decider.js';
import type { AgentConfiguration, AgentEvent, AgentWebhook } from './agent.events.js';
import { BLANK_AGENT } from './agent.policy.js';

const agentId = 'a1';
const now = new Date('2026-01-01T00:00:00.000Z');
const at = now.toISOString();
const nextAt = '2026-01-01T00:00:00.001Z';
const key = (keyId: string) => ({ keyId, hash: `hash of ${keyId}`, masked: 'abcd...wxyz' });
const webhook = (id: string): AgentWebhook => ({ hash: `hash of ${id}`, credentialsId: id });
const complete: AgentConfiguration = { ...BLANK_AGENT, name: 'Guide', description: 'Knows the docs' };
const change = (more: Partial<AgentChange>): AgentChange => ({
  changes: {},
  inaccessible: new Set(),
  key: key('k1'),
  now,
  ...more,
});

const created = (configuration = complete): AgentEvent => ({
  type: 'AgentCreated',
  data: { agentId, ownerId: 'alice', createdAt: at, configuration },
});
const updated = (changes: Partial<AgentConfiguration>): AgentEvent => ({
  type: 'AgentUpdated',
  data: { agentId, updatedAt: nextAt, changes },
});
const published = (updatedAt = at): AgentEvent => ({ type: 'AgentPublished', data: { agentId, updatedAt } });
const issued = (keyId: string): AgentEvent => ({ type: 'AgentKeyIssued', data: { agentId, key: key(keyId) } });
const revoked = (keyId: string): AgentEvent => ({ type: 'AgentKeyRevoked', data: { agentId, keyId } });
const minted = (id: string): AgentEvent => ({ type: 'AgentWebhookMinted', data: { agentId, webhook: webhook(id) } });
const deleted: AgentEvent = { type: 'AgentDeleted', data: { agentId } };

describe('a new agent', () => {
  const wanted = { configuration: complete, inaccessible: new Set<string>(), key: key('k1'), webhook: webhook('w1'), now };

  it('has no key as a draft', () =>
    given(agent, [])
      .when(create(agentId, 'alice', { ...wanted, status: 'draft' }))
      .then([created(), minted('w1')]));
  it('gets its key when it is published', () =>
    given(agent, [])
      .when(create(agentId, 'alice', { ...wanted, status: 'published' }))
      .then([created(), minted('w1'), published(), issued('k1')]));
  it('cannot be published without a description', () =>
    given(agent, [])
      .when(create(agentId, 'alice', { ...wanted, configuration: { ...complete, description: '' }, status: 'published' }))
      .thenRejected('agent-not-publishable'));
});

describe('an update', () => {
  it('records only the fields that changed', () =>
    given(agent, [created()])
      .when(update('alice', change({ changes: { name: 'Guide', chunks: 0, tools: [] } })))
      .then([updated({ chunks: 0 })]));
  it('that changes nothing appends no event', () =>
    given(agent, [created()])
      .when(update('alice', change({ changes: { config: {} } })))
      .thenNothing());
  it('publishes and issues the first key', () =>
    given(agent, [created()])
      .when(update('alice', change({ status: 'published' })))
      .then([published(nextAt), issued('k1')]));
  it('that publishes a withdrawn agent again keeps its key', () =>
    given(agent, [created(), published(), issued('k0'), { type: 'AgentWithdrawnToDraft', data: { agentId, updatedAt: at } }])
      .when(update('alice', change({ status: 'published' })))
      .then([published(nextAt)]));
  it('publishes an agent that retrieves nothing', () =>
    given(agent, [created({ ...complete, chunks: 0 })])
      .when(update('alice', change({ status: 'published' })))
      .then([published(nextAt), issued('k1')]));
  it('may not remove a required field of a published agent', () =>
    given(agent, [created(), published(), issued('k0')])
      .when(update('alice', change({ changes: { description: '' } })))
      .thenRejected('agent-not-publishable'));
  it('is refused if it is based on an old version', () =>
    given(agent, [created(), updated({ name: 'Other' })])
      .when(update('alice', change({ changes: { name: 'Mine' }, expectedUpdatedAt: now })))
      .thenRejected('agent-stale-write'));
  it('is accepted if it is based on the current version', () =>
    given(agent, [created(), updated({ name: 'Other' })])
      .when(update('alice', change({ changes: { name: 'Mine' }, expectedUpdatedAt: new Date(nextAt) })))
      .then([{ type: 'AgentUpdated', data: { agentId, updatedAt: '2026-01-01T00:00:00.002Z', changes: { name: 'Mine' } } }]));
  it('may not add a source that its owner cannot use', () =>
    given(agent, [created()])
      .when(update('alice', change({ changes: { additionalSources: ['s1'] }, inaccessible: new Set(['s1']) })))
      .thenRejected('source-not-accessible'));
  it('may keep a source that its owner can no longer use', () =>
    given(agent, [created({ ...complete, source: 's1' })])
      .when(update('alice', change({ changes: { source: 's1', chunks: 3 }, inaccessible: new Set(['s1']) })))
      .then([updated({ chunks: 3 })]));
  it('may not choose the prompt of another user', () =>
    given(agent, [created()])
      .when(update('alice', change({ changes: { promptId: 'p1' }, inaccessible: new Set(['p1']) })))
      .thenRejected('prompt-not-accessible'));
});

describe('another user', () => {
  it.each([
    ['updates', update('bob', change({ changes: { name: 'Mine' } }))],
    ['deletes', remove('bob')],
    ['renews the key of', regenerateKey('bob', key('k2'))],
  ])('who %s an agent gets "not found"', (_, decide) =>
    given(agent, [created(), published(), issued('k1')])
      .when(decide)
      .thenRejected('agent-not-found'),
  );
});

describe('a key', () => {
  it('replaces the previous one when it is regenerated', () =>
    given(agent, [created(), published(), issued('k1')])
      .when(regenerateKey('alice', key('k2')))
      .then([revoked('k1'), issued('k2')]));
  it('is not regenerated while the agent is a draft', () =>
    given(agent, [created()])
      .when(regenerateKey('alice', key('k2')))
      .thenRejected('agent-not-published'));
  it('is revoked when the agent is deleted', () =>
    given(agent, [created(), published(), issued('k1')])
      .when(remove('alice'))
      .then([revoked('k1'), deleted]));
});

describe('a webhook', () => {
  it('is created for an agent that has none', () =>
    given(agent, [created()])
      .when(mintWebhook('alice', webhook('w1')))
      .then([minted('w1')]));
  it('never changes', () =>
    given(agent, [created(), minted('w1')])
      .when(mintWebhook('alice', webhook('w2')))
      .thenNothing());
  it('is not created for another user', () =>
    given(agent, [created()])
      .when(mintWebhook('bob', webhook('w1')))
      .thenRejected('agent-not-found'));
});

describe('a link', () => {
  const link = (linkId: string) => ({ linkId, tokenHash: `hash of ${linkId}` });
  const linked: AgentEvent = { type: 'AgentLinked', data: { agentId, link: link('l1'), sharedBy: 'Alice', sharedAt: at } };
  const linkEnded: AgentEvent = { type: 'AgentLinkEnded', data: { agentId, linkId: 'l1' } };

  it('is created once, until it ends', () => {
    const share = (linkId: string) => shareByLink('alice', link(linkId), 'Alice', now);
    given(agent, [created()]).when(share('l1')).then([linked]);
    given(agent, [created(), linked]).when(share('l2')).thenNothing();
    given(agent, [created(), linked, linkEnded]).when(share('l1')).then([linked]);
  });
  it('ends once', () => {
    given(agent, [created(), linked]).when(endLink('alice')).then([linkEnded]);
    given(agent, [created(), linked, linkEnded]).when(endLink('alice')).thenNothing();
  });
  it('ends when the agent is deleted', () => given(agent, [created(), linked]).when(remove('alice')).then([linkEnded, deleted]));
  it('is neither created nor ended by another user', () => {
    given(agent, [created()])
      .when(shareByLink('bob', link('l1'), 'Bob', now))
      .thenRejected('agent-not-found');
    given(agent, [created(), linked]).when(endLink('bob')).thenRejected('agent-not-found');
  });
});

describe('an import into an agent', () => {
  const file = { ...complete, sources: [], limitsTokens: false, limitsRequests: false };
  const imports = (importId: string, { name = 'Guide', hasParts = false } = {}) =>
    importInto(agentId, 'alice', { importId, imported: { ...file, name }, slug: undefined, hasParts, now }, webhook('w1'));
  const imported = (importId: string, changes: Partial<AgentConfiguration>): AgentEvent => ({
    type: 'AgentUpdated',
    data: { agentId, updatedAt: nextAt, changes, importId },
  });

  it('changes only what differs', () =>
    given(agent, [created()])
      .when(imports('i1', { name: 'Pilot' }))
      .then([imported('i1', { name: 'Pilot' })]));
  it('that changes nothing appends no event, unless it has created other resources', () => {
    given(agent, [created()]).when(imports('i1')).thenNothing();
    given(agent, [created()])
      .when(imports('i1', { hasParts: true }))
      .then([imported('i1', {})]);
  });
  it('is applied once', () =>
    given(agent, [created(), imported('i1', { name: 'Pilot' }), updated({ name: 'Guide' })])
      .when(imports('i1', { name: 'Pilot' }))
      .thenNothing());
});

it('any sequence of decisions is idempotent, leaves at most one valid key, and never one after deletion', () => {
  const decision = fc.oneof(
    fc
      .record({ name: fc.constantFrom('', 'x', 'y'), status: fc.constantFrom('draft' as const, 'published' as const) })
      .map(({ name, status }) => update('alice', change({ changes: { name }, status }))),
    fc.constantFrom('k2', 'k3', 'k4').map((keyId) => regenerateKey('alice', key(keyId))),
    fc.constantFrom(pin('alice'), unpin('alice'), remove('alice')),
    fc.constantFrom(update('bob', change({ changes: { name: 'z' } })), remove('bob')),
  );
  fc.assert(
    fc.property(fc.array(decision, { maxLength: 15 }), (decisions) => {
      let state: Agent = [created()].reduce<Agent>(agent.evolve, agent.initial);
      const alive = new Set<string>();
      for (const decide of decisions) {
        const events = eventsUnlessRejected(decide, state);
        if (!events) continue;
        for (const event of events) {
          if (event.type === 'AgentKeyIssued') alive.add(event.data.key.keyId);
          if (event.type === 'AgentKeyRevoked') expect(alive.delete(event.data.keyId)).toBe(true);
        }
        const before = state.updatedAt;
        state = events.reduce<Agent>(agent.evolve, state);
        expect(decide(state)).toEqual([]);
        expect(alive.size).toBeLessThanOrEqual(1);
        expect([...alive][0] ?? null).toBe(state.keyId);
        if (state.status === 'published')
          expect([state.configuration?.name, alive.size]).toEqual([expect.stringMatching(/./), 1]);
        if (state.status === 'deleted') expect(alive.size).toBe(0);
        expect(state.updatedAt >= before).toBe(true);
      }
    }),
    { numRuns: 500 },
  );
});
