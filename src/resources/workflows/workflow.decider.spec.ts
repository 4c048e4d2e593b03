import { describe, expect, it } from '@jest/globals';
import { Rejection } from '../../kernel/rejection.js';
import { change, create, remove, takeIn, workflow, type Workflow } from './workflow.decider.js';
import type { WorkflowEvent } from './workflow.events.js';
import type { WorkflowGraph } from './workflow-graph.policy.js';

const graphOf = (title: string): { inline: WorkflowGraph } => ({
  inline: { nodes: [{ id: 'a', type: 'start', title, description: '', position: { x: 0, y: 0 }, data: {} }], edges: [] },
});
const AT = new Date('2026-01-01T00:00:00Z');
const LATER = new Date('2026-01-02T00:00:00Z');
const wanted = { name: 'Check', description: '', graph: graphOf('one') };
const after = (events: readonly WorkflowEvent[], state: Workflow = workflow.initial) => events.reduce(workflow.evolve, state);

const created = create('w', 'alice', wanted, AT)(workflow.initial);
const there = after(created);
const changed = (state: Workflow, to: Parameters<typeof change>[1], now = LATER) => change('alice', to, now)(state);

describe('a workflow', () => {
  it('begins with the first version of its graph', () => {
    expect(created).toMatchObject([{ type: 'WorkflowCreated', data: { workflowId: 'w', ownerId: 'alice', version: 1 } }]);
  });

  it('is created once per id', () => {
    expect(create('w', 'alice', wanted, LATER)(there)).toEqual([]);
    expect(create('w', 'alice', wanted, LATER)(after(remove('alice', LATER)(there)))).toEqual([]);
  });

  it('gets a new version if its graph changes', () => {
    const events = changed(there, { graph: graphOf('two') });
    expect(events).toMatchObject([{ type: 'WorkflowChanged', data: { version: 2, name: 'Check', createdAt: AT.toISOString() } }]);
    expect(changed(after(events), { graph: graphOf('three') })).toMatchObject([{ data: { version: 3 } }]);
  });

  it('keeps its version if only its text changes', () => {
    expect(changed(there, { name: 'Other', graph: graphOf('one') })).toMatchObject([{ data: { name: 'Other', version: 1 } }]);
  });

  it('does not change if the content is equal, whatever the order of keys', () => {
    const node = Object.fromEntries(Object.entries(graphOf('one').inline.nodes[0]!).reverse());
    expect(changed(there, { ...wanted, graph: { inline: { edges: [], nodes: [node as never] } } })).toEqual([]);
    expect(changed(there, {})).toEqual([]);
  });

  it('has strictly increasing times of change', () => {
    expect(changed(there, { name: 'Other' }, new Date('2025-01-01'))).toMatchObject([
      { data: { updatedAt: '2026-01-01T00:00:00.001Z' } },
    ]);
  });

  it('can be restored from its newest change alone', () => {
    const events = changed(there, { graph: graphOf('two') });
    expect(after(events)).toEqual(after([...created, ...events]));
  });

  it('applies an import once and keeps later changes of the owner', () => {
    const takenIn = (state: Workflow) => takeIn('w', 'alice', 'i1', { ...wanted, graph: graphOf('two') }, LATER)(state);
    expect(takenIn(workflow.initial)).toMatchObject([{ type: 'WorkflowCreated', data: { version: 1, importId: 'i1' } }]);
    expect(takenIn(after(takenIn(workflow.initial)))).toEqual([]);
    const events = takenIn(there);
    expect(events).toMatchObject([{ type: 'WorkflowChanged', data: { version: 2, importId: 'i1', awaitsImport: true } }]);
    const own = changed(after(events), { graph: graphOf('three') });
    expect(own).toEqual([{ type: 'WorkflowChanged', data: expect.not.objectContaining({ awaitsImport: true }) }]);
    expect(takenIn(after(own))).toEqual([]);
    expect(() => takenIn(after(remove('alice', LATER)(there)))).toThrow('Workflow not found');
  });

  it('is deleted once', () => {
    const ended = after(remove('alice', LATER)(there));
    expect(ended).toEqual({ status: 'deleted', ownerId: 'alice' });
    expect(remove('alice', LATER)(ended)).toEqual([]);
    expect(() => changed(ended, { name: 'Other' })).toThrow(Rejection);
  });

  it.each([
    ['changed', change('bob', { name: 'Mine' }, LATER)],
    ['deleted', remove('bob', LATER)],
  ])('cannot be %s by other users, who get the error for an unknown workflow', (_, decide) => {
    for (const state of [workflow.initial, there, after(remove('alice', LATER)(there))])
      expect(() => decide(state)).toThrow('Workflow not found');
  });
});
