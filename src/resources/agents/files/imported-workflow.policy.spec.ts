import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { WorkflowGraph, WorkflowNode } from '../../workflows/workflow-graph.policy.js';
import { agentFileIn } from './format/agent-file.policy.js';
import { importedGraph, portableGraph, referencesOf, toolIndexOf } from './imported-workflow.policy.js';

const node = (type: string, data: Record<string, unknown>, id = type): WorkflowNode => ({
  id,
  type,
  title: 'A step',
  description: '',
  position: { x: 1, y: 2 },
  data,
});
const graphOf = (...nodes: WorkflowNode[]): WorkflowGraph => ({
  nodes,
  edges: [{ id: 'e', source: 'start', target: 'end', sourceHandle: null, targetHandle: 'in' }],
});

/** Every resource has another id after an export and an import, and those of others have no name. */
const named = (id: string) => (id.startsWith('foreign') ? undefined : `name of ${id}`);
const found = (name: string) => (name.startsWith('name of ') ? name.slice('name of '.length) : null);
const FILE = { tool: named, source: named, model: named };
const HERE = { tool: found, source: found, model: found };

const ids = fc.array(fc.constantFrom('a', 'b', 'c', 'foreign'));
const data = fc.record(
  {
    tools: fc.oneof(ids, fc.constant('a')),
    sources: fc.oneof(fc.array(fc.constantFrom('a', 'b', 'default', 'foreign')), fc.constant('default')),
    model_id: fc.constantFrom('a', 'foreign', ''),
    system_prompt: fc.string(),
  },
  { requiredKeys: [] },
);

const withoutForeign = (given: Record<string, unknown>): Record<string, unknown> => {
  const own = (value: unknown) => [value].flat().filter((id) => id !== 'foreign');
  const { tools, sources, model_id: model } = given;
  return {
    ...given,
    ...(tools !== undefined && { tools: own(tools) }),
    ...(sources !== undefined && { sources: own(sources) }),
    ...(model === 'foreign' && { model_id: '' }),
  };
};

describe('a graph', () => {
  it('is the same after an export and an import, without references to resources of others', () => {
    fc.assert(
      fc.property(data, fc.boolean(), (settings, isNested) => {
        const graph = graphOf(node('start', {}), node('agent', isNested ? { config: settings } : settings), node('end', {}));
        const { nodes, edges } = portableGraph(graph, FILE);
        const warnings: string[] = [];
        const imported = importedGraph({ name: '', description: '', nodes, edges }, HERE, warnings);
        expect(imported).toEqual(graphOf(node('start', {}), node('agent', withoutForeign(settings)), node('end', {})));
        expect(warnings).toEqual([]);
      }),
    );
  });

  it('keeps the settings of nodes that are not agents as they are', () => {
    const condition = node('condition', { tools: ['foreign'], cases: [1] });
    const { nodes, edges } = portableGraph(graphOf(condition), FILE);
    const warnings: string[] = [];
    const imported = importedGraph({ name: '', description: '', nodes, edges }, { ...HERE, tool: () => null }, warnings);
    expect([imported.nodes, warnings]).toEqual([[condition], []]);
  });

  it('names each resource of its agents once, in the order of use, and not the one that stands for none', () => {
    const graph = graphOf(
      node('agent', { tools: ['b', 'a'], sources: ['default', 's'], model_id: 'm' }, 'one'),
      node('agent', { config: { tools: ['a', '', 7, 'c'], sources: 't', model_id: '' } }, 'two'),
      node('note', { tools: ['z'], sources: ['z'], model_id: 'z' }),
    );
    expect(referencesOf(graph)).toEqual({ tools: ['b', 'a', 'c'], sources: ['s', 't'], models: ['m'] });
  });

  it('is imported with a warning for each reference that is not found', () => {
    const config = { tools: ['gone', 'name of a'], sources: ['x'.repeat(300)], model_id: 'lost' };
    const agent = { id: 'n', type: 'agent', title: '', description: '', position: { x: 0, y: 0 }, config };
    const warnings: string[] = [];
    const { nodes } = importedGraph({ name: '', description: '', nodes: [agent], edges: [] }, HERE, warnings);
    expect(nodes[0]!.data).toEqual({ tools: ['a'], sources: [], model_id: '' });
    expect(warnings).toEqual([
      "Workflow node tool 'gone' not resolved; removed",
      `Workflow node source '${'x'.repeat(100)}' not resolved; removed`,
      "Workflow node model 'lost' not resolved; removed",
    ]);
  });
});

it('a node names a tool of the file by its key, otherwise by its reference', () => {
  const tools = ['', 'tool-0', 'r', 'r'].map((ref) => ({ type: 'x', ref }));
  const file = agentFileIn({ apiVersion: 'docsgpt.arc53.com/v1', kind: 'Agent', spec: { name: 'Guide', tools } });
  expect(['tool-0', 'tool-3', 'r', '', 'tool-9'].map((key) => toolIndexOf(file, key))).toEqual([0, 3, 2, -1, -1]);
});
