import { describe, expect, it } from '@jest/globals';
import { given } from '../../../../test/support/given.js';
import { BLANK_AGENT } from '../agent.policy.js';
import { accept, agentImport, finish, prepare } from './agent-import.decider.js';
import type { AgentImportAccepted, AgentImportEvent, ImportPart } from './agent-import.events.js';

const part = (id: string): ImportPart => ({ kind: 'prompt', id, name: id, content: 'Be brief.' });
const accepted: AgentImportAccepted = {
  type: 'AgentImportAccepted',
  data: {
    importId: 'i1',
    ownerId: 'alice',
    agentId: 'a1',
    action: 'created',
    slug: 'guide',
    imported: { ...BLANK_AGENT, retriever: null, sources: [], limitsTokens: false, limitsRequests: false },
    deletes: null,
    warnings: [],
  },
};
const prepared = (after: number, ...ids: string[]): AgentImportEvent => ({
  type: 'AgentImportPrepared',
  data: { importId: 'i1', ownerId: 'alice', after, parts: ids.map(part) },
});
const finished: AgentImportEvent = { type: 'AgentImportFinished', data: { importId: 'i1', agentId: 'a1' } };
const partsOf = (...past: AgentImportEvent[]): readonly string[] =>
  past.reduce(agentImport.evolve, agentImport.initial).parts.map(({ id }) => id);

describe('the parts of an import', () => {
  it('are recorded in several events', () => {
    given(agentImport, [])
      .when(prepare('i1', 'alice', 0, [part('p1')]))
      .then([prepared(0, 'p1')]);
    given(agentImport, [prepared(0, 'p1')])
      .when(prepare('i1', 'alice', 1, [part('p2')]))
      .then([prepared(1, 'p2')]);
    expect(partsOf(prepared(0, 'p1'), prepared(1, 'p2'))).toEqual(['p1', 'p2']);
  });
  it('replace those of an attempt that was abandoned', () =>
    expect(partsOf(prepared(0, 'p1'), prepared(1, 'p2'), prepared(0, 'p3'))).toEqual(['p3']));
  it('need no event if there are none', () =>
    given(agentImport, [])
      .when(prepare('i1', 'alice', 0, []))
      .thenNothing());
  it.each([
    ['accepted', [accepted]],
    ['finished', [accepted, finished]],
  ])('are not recorded after the import was %s', (_, past) =>
    given(agentImport, past)
      .when(prepare('i1', 'alice', 0, [part('p1')]))
      .thenNothing(),
  );
});

describe('an import', () => {
  it('is accepted together with its remaining parts', () =>
    given(agentImport, [prepared(0, 'p1')])
      .when(accept(accepted.data, 1, [part('p2')]))
      .then([prepared(1, 'p2'), accepted]));
  it('without parts is accepted', () =>
    given(agentImport, [])
      .when(accept(accepted.data, 0, []))
      .then([accepted]));
  it.each([
    ['accepted', [accepted]],
    ['finished', [accepted, finished]],
  ])('does not change when it is accepted again after it was %s', (_, past) =>
    given(agentImport, past)
      .when(accept({ ...accepted.data, slug: 'other' }, 0, [part('p1')]))
      .thenNothing(),
  );
  it('is finished once, and only after it was accepted', () => {
    given(agentImport, [prepared(0, 'p1')])
      .when(finish('i1', 'a1'))
      .thenNothing();
    given(agentImport, [accepted]).when(finish('i1', 'a1')).then([finished]);
    given(agentImport, [accepted, finished]).when(finish('i1', 'a2')).thenNothing();
  });
});
