import { describe, expect, it } from '@jest/globals';
import { capProblems, type ConfiguredNode, nameOfNode, structureProblems } from './graph-structure.policy.js';
import { nodeConfigOf } from './node-config.policy.js';
import type { WorkflowEdge, WorkflowNode } from './workflow-graph.policy.js';

const node = (id: string, type: string, title = ''): WorkflowNode => ({
  ...{ id, type, title, description: '', position: { x: 0, y: 0 }, data: {} },
});
const plain = (id: string, type = id): ConfiguredNode => {
  const each = node(id, type);
  return { node: each, config: nodeConfigOf(each) };
};
const condition = (...cases: (readonly [handle: string, expression: string])[]): ConfiguredNode => {
  const data = { cases: cases.map(([sourceHandle, expression]) => ({ sourceHandle, expression })) };
  const each = { ...node('if', 'condition'), data };
  return { node: each, config: nodeConfigOf(each) };
};
/** An edge `source>target`, or `source:branch>target`. */
const edges = (...ways: string[]): readonly WorkflowEdge[] =>
  ways.map((way) => {
    const [, source, , sourceHandle = null, target] = /^(\w+)(:(\w+))?>(\w+)$/.exec(way)!;
    return { id: way, source: source!, target: target!, sourceHandle, targetHandle: null };
  });
const [start, end] = [plain('start'), plain('end')];

describe('the name of a node', () => {
  it.each([
    [node('n', 'start'), "Start node 'n'"],
    [node('n', 'end', ' Done '), "End node 'Done'"],
    [node('n', 'note', ' '), "Note 'n'"],
    [node('n', 'agent'), "Agent node 'n'"],
    [node('n', 'state'), "Set State node 'n'"],
    [node('n', 'condition'), "Condition node 'n'"],
    [node('n', 'code'), "Code node 'n'"],
    [node('n', 'other'), "Node 'n'"],
  ])('of %j is %s', (each, name) => expect(nameOfNode(each)).toBe(name));
});

it('a graph has at most 200 nodes and 400 edges', () => {
  expect(capProblems(Array(200), Array(400))).toEqual([]);
  expect(capProblems(Array(201), Array(401))).toEqual(['Too many workflow nodes (max 200)', 'Too many workflow edges (max 400)']);
  expect(capProblems(null, { length: 401 })).toEqual([]);
});

it('a graph with one way from the start to the end has no problem, also with notes and circles', () => {
  expect(structureProblems([start, plain('agent'), plain('note'), end], edges('start>agent', 'agent>end'))).toEqual([]);
  expect(
    structureProblems([start, plain('agent'), end, plain('code')], edges('start>agent', 'agent>code', 'code>agent')),
  ).toEqual(["End node 'end' cannot be reached from the start node"]);
});

it.each<[string, readonly ConfiguredNode[], readonly WorkflowEdge[], readonly string[]]>([
  ['no node', [], [], ['Workflow must have at least one node']],
  ['no start', [plain('agent'), end], edges('agent>end'), ['Workflow must have exactly one start node']],
  [
    'two starts',
    [start, plain('other', 'start'), end],
    edges('start>end', 'other>end'),
    ['Workflow must have exactly one start node'],
  ],
  ['no end', [start, plain('agent')], edges('start>agent'), ['Workflow must have at least one end node']],
  ['two nodes with one id', [start, end, end], edges('start>end'), ["More than one node has the id 'end'"]],
  [
    'two edges with one id',
    [start, plain('agent'), end],
    edges('start>agent', 'agent>end').map((each) => ({ ...each, id: 'e' })),
    ["More than one edge has the id 'e'"],
  ],
  [
    'a node of an unknown type',
    [start, plain('x', 'loop'), end],
    edges('start>x', 'x>end'),
    ["Node 'x' has the unknown type 'loop'"],
  ],
  ['an edge from nowhere', [start, end], edges('start>end', 'lost>end'), ["Edge 'lost>end' begins at 'lost', which is no node"]],
  [
    'an edge to nowhere',
    [start, end, plain('note')],
    edges('start>end', 'note>lost'),
    ["Edge 'note>lost' leads to 'lost', which is no node"],
  ],
  ['a start that leads nowhere', [start, plain('agent'), end], edges('agent>end'), ['Start node must have an outgoing edge']],
  [
    'a node with two ways on',
    [start, plain('agent'), end],
    edges('start>agent', 'agent>end', 'agent>agent'),
    ["Agent node 'agent' has more than one outgoing edge"],
  ],
  [
    'a node apart',
    [start, plain('agent'), end],
    edges('start>end', 'agent>end'),
    ["Agent node 'agent' cannot be reached from the start node"],
  ],
  [
    'a node after an end, with which a run ends',
    [start, end, plain('agent')],
    edges('start>end', 'end>agent'),
    ["Agent node 'agent' cannot be reached from the start node"],
  ],
  [
    'a way through no node',
    [start, end],
    edges('start>lost', 'lost>end'),
    [
      "Edge 'start>lost' leads to 'lost', which is no node",
      "Edge 'lost>end' begins at 'lost', which is no node",
      "End node 'end' cannot be reached from the start node",
    ],
  ],
])('a graph with %s has a problem', (_, nodes, ways, problems) => expect(structureProblems(nodes, ways)).toEqual(problems));

describe('a condition', () => {
  const problems = (check: ConfiguredNode, ...ways: string[]) =>
    structureProblems([start, check, plain('agent'), end], edges('start>if', 'agent>end', ...ways));
  const yes = ['yes', 'x > 1'] as const;

  it('has a branch for each case and one for all others', () =>
    expect(problems(condition(yes), 'if:yes>agent', 'if:else>end')).toEqual([]));

  it.each<[string, ConfiguredNode, string[], string[]]>([
    [
      'one branch',
      condition(),
      ['if:else>agent'],
      ['must have at least 2 outgoing edges', 'must have at least one case with an expression'],
    ],
    [
      'only a case without an expression',
      condition(['yes', '']),
      ['if:yes>agent', 'if:else>end'],
      ['must have at least one case with an expression', ": case 'yes' has an outgoing edge but no expression"],
    ],
    [
      'two cases of one branch',
      condition(yes, yes),
      ['if:yes>agent', 'if:else>end'],
      ["has more than one case with the handle 'yes'"],
    ],
    ['no branch for all others', condition(yes, ['no', 'x < 1']), ['if:yes>agent', 'if:no>end'], ["must have an 'else' branch"]],
    [
      'an edge without a branch',
      condition(yes),
      ['if:yes>agent', 'if:else>end', 'if>end'],
      ['has an outgoing edge without a sourceHandle'],
    ],
    [
      'an unknown branch',
      condition(yes),
      ['if:yes>agent', 'if:else>end', 'if:no>end'],
      ["has an edge from the unknown branch 'no'"],
    ],
    [
      'two edges of one branch',
      condition(yes),
      ['if:yes>agent', 'if:yes>end', 'if:else>end'],
      ["has more than one edge from the branch 'yes'"],
    ],
    [
      'a case without an edge',
      condition(yes, ['no', 'x < 1']),
      ['if:yes>agent', 'if:else>end'],
      [": case 'no' has an expression but no outgoing edge"],
    ],
  ])('with %s has a problem', (_, check, ways, found) =>
    expect(problems(check, ...ways)).toEqual(
      found.map((problem) => `Condition node 'if'${problem.startsWith(':') ? '' : ' '}${problem}`),
    ),
  );

  it('must reach an end by each branch', () =>
    expect(
      structureProblems(
        [start, condition(yes), plain('agent'), end],
        edges('start>if', 'if:yes>agent', 'if:else>end', 'agent>agent'),
      ),
    ).toEqual(["Branch 'yes' of Condition node 'if' must reach an end node"]));
});

it('a run reaches the nearest end within 50 nodes', () => {
  const chain = (count: number, ...apart: ConfiguredNode[]) => {
    const ids = ['start', ...Array.from({ length: count - 2 }, (_, at) => `a${at}`), 'end'];
    const nodes = ids.map((id) => plain(id, id.startsWith('a') ? 'agent' : id));
    return structureProblems([...nodes, ...apart], edges(...ids.slice(1).map((id, at) => `${ids[at]}>${id}`)));
  };
  expect(chain(50)).toEqual([]);
  const tooLong = 'The shortest way to an end node takes 51 steps; a run has at most 50';
  expect(chain(51)).toEqual([tooLong]);
  expect(chain(51, plain('other', 'end'))).toEqual(["End node 'other' cannot be reached from the start node", tooLong]);
});
