import { describe, expect, it } from '@jest/globals';
import { readGraph } from './read-graph.policy.js';

const LONG = (max: number) => 'x'.repeat(max + 1);
const ORIGIN = { x: 0, y: 0 };
const node = { id: 'n', type: 'agent', title: '', description: '', position: ORIGIN, data: {} };
const edge = { id: 'e', source: 'a', target: 'b', sourceHandle: null, targetHandle: null };

describe('a graph', () => {
  it.each([[undefined], [null]])('without lists (%j) is empty', (nothing) =>
    expect(readGraph(nothing, nothing)).toEqual({ graph: { nodes: [], edges: [] }, problems: [] }),
  );
  it('must have lists', () => expect(readGraph({}, 'e').problems).toEqual(['nodes must be a list', 'edges must be a list']));
});

describe('a node', () => {
  it.each([
    [{ id: 'n', type: 'agent' }, node],
    [{ id: 'n', type: 'agent', title: null, description: null, position: null, data: null, more: 1 }, node],
    [
      { ...node, title: 'T'.repeat(200), description: 'D'.repeat(10_000), position: { x: 1, y: -2 }, data: { a: 1 } },
      { ...node, title: 'T'.repeat(200), description: 'D'.repeat(10_000), position: { x: 1, y: -2 }, data: { a: 1 } },
    ],
    [
      { ...node, position: { y: 3 } },
      { ...node, position: { x: 0, y: 3 } },
    ],
    [
      { ...node, id: 'n'.repeat(200) },
      { ...node, id: 'n'.repeat(200) },
    ],
  ])('is read: %#', (given, read) =>
    expect(readGraph([given], [])).toEqual({ graph: { nodes: [read], edges: [] }, problems: [] }),
  );

  const POSITION = "Node 'n': position must hold the numbers x and y";
  it.each([
    ['data', { data: [] }, "Node 'n' has an invalid configuration: data must be an object"],
    ['title', { title: LONG(200) }, "Node 'n': title must be a text of at most 200 characters"],
    ['title', { title: 7 }, "Node 'n': title must be a text of at most 200 characters"],
    ['description', { description: LONG(10_000) }, "Node 'n': description must be a text of at most 10000 characters"],
    ['position', { position: 'left' }, POSITION],
    ['position', { position: { x: '1', y: 2 } }, POSITION],
    ['position', { position: { x: 1, y: '2' } }, POSITION],
    ['position', { position: { x: Infinity } }, POSITION],
    ['position', { position: { y: NaN } }, POSITION],
  ])('with an invalid %s has its default', (_, field, problem) =>
    expect(readGraph([{ ...node, ...field }], [])).toEqual({ graph: { nodes: [node], edges: [] }, problems: [problem] }),
  );

  it.each([
    ['n', 'Node 1 must be an object'],
    [{ type: 'agent' }, 'Node 1 must have an id'],
    [{ id: ' ', type: 'agent' }, 'Node 1 must have an id'],
    [{ id: LONG(200), type: 'agent' }, 'Node 1: id must have at most 200 characters'],
    [{ id: 'n', type: 7 }, 'Node 1 must have a type'],
  ])('is left out: %#', (given, problem) =>
    expect(readGraph([given, node], [])).toEqual({ graph: { nodes: [node], edges: [] }, problems: [problem] }),
  );

  it('without an id is named by its place', () =>
    expect(readGraph([node, { type: 'agent', title: 7 }], []).problems).toEqual([
      'Node 2 must have an id',
      'Node 2: title must be a text of at most 200 characters',
    ]));
});

describe('an edge', () => {
  it.each([
    [{ id: 'e', source: 'a', target: 'b' }, edge],
    [{ ...edge, sourceHandle: ' ', targetHandle: '' }, edge],
    [
      { ...edge, sourceHandle: ' yes ', targetHandle: ' in ' },
      { ...edge, sourceHandle: 'yes', targetHandle: 'in' },
    ],
  ])('is read: %j', (given, read) =>
    expect(readGraph([], [given])).toEqual({ graph: { nodes: [], edges: [read] }, problems: [] }),
  );

  it.each([
    ['e', ['Edge 1 must be an object']],
    [{ source: 'a', target: 'b' }, ['Edge 1 must have an id']],
    [{ source: 'a' }, ['Edge 1 must have an id', 'Edge 1 must have a target']],
    [{ id: 'e', target: 'b' }, ["Edge 'e' must have a source"]],
    [{ id: 'e', source: 'a' }, ["Edge 'e' must have a target"]],
    [{ id: 'e' }, ["Edge 'e' must have a source", "Edge 'e' must have a target"]],
  ])('is left out: %j', (given, problems) =>
    expect(readGraph([], [given, edge])).toEqual({ graph: { nodes: [], edges: [edge] }, problems }),
  );

  it('with an invalid handle has none', () =>
    expect(readGraph([], [{ ...edge, sourceHandle: LONG(200), targetHandle: 7 }])).toEqual({
      graph: { nodes: [], edges: [edge] },
      problems: [
        "Edge 'e': sourceHandle must be a text of at most 200 characters",
        "Edge 'e': targetHandle must be a text of at most 200 characters",
      ],
    }));
});
