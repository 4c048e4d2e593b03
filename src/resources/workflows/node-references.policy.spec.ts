import { expect, it } from '@jest/globals';
import { referencesIn } from './node-references.policy.js';

const node = (type: string, data: object) => ({
  ...{ id: '', type, title: '', description: '', position: { x: 0, y: 0 } },
  data: data as Readonly<Record<string, unknown>>,
});

it('a graph uses the tools and sources of its agent nodes, each once', () =>
  expect(
    referencesIn({
      nodes: [
        node('agent', { tools: ['t1', 't2'], sources: ['s1', 'default'] }),
        node('agent', { config: { tools: ['t2', 't3'], sources: 's1' } }),
        node('state', { tools: ['t4'], sources: ['s2'] }),
        node('unknown', { tools: ['t5'] }),
      ],
      edges: [],
    }),
  ).toEqual({ tools: ['t1', 't2', 't3'], sources: ['s1'] }));
