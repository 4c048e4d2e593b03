import type { ConditionCase, NodeConfig } from './node-config.policy.js';
import {
  ELSE_HANDLE,
  GRAPH_EDGES_MAX,
  GRAPH_NODES_MAX,
  isNodeType,
  RUN_STEPS_MAX,
  type WorkflowEdge,
  type WorkflowNode,
} from './workflow-graph.policy.js';

/** A node with its settings, which are undefined if the node's type is unknown. */
export type ConfiguredNode = Readonly<{ node: WorkflowNode; config: NodeConfig | undefined }>;

const NODE_NAMES: Readonly<Record<string, string>> = {
  start: 'Start node',
  end: 'End node',
  note: 'Note',
  agent: 'Agent node',
  state: 'Set State node',
  condition: 'Condition node',
  code: 'Code node',
};

/** The name of a node in problems: its type and its title. */
export const nameOfNode = ({ id, type, title }: WorkflowNode): string => `${NODE_NAMES[type] ?? 'Node'} '${title.trim() || id}'`;

/** Problems with the number of nodes and edges. A graph that exceeds a maximum is not checked further. */
export function capProblems(nodes: unknown, edges: unknown): readonly string[] {
  const count = (list: unknown): number => (Array.isArray(list) ? list.length : 0);
  return [
    ...(count(nodes) > GRAPH_NODES_MAX ? [`Too many workflow nodes (max ${GRAPH_NODES_MAX})`] : []),
    ...(count(edges) > GRAPH_EDGES_MAX ? [`Too many workflow edges (max ${GRAPH_EDGES_MAX})`] : []),
  ];
}

/** Problems with the structure of a graph. The settings of nodes are checked elsewhere. */
export function structureProblems(configured: readonly ConfiguredNode[], edges: readonly WorkflowEdge[]): readonly string[] {
  const nodes = configured.map(({ node }) => node);
  if (nodes.length === 0) return ['Workflow must have at least one node'];
  const ways = new Ways(nodes, edges);
  return [
    ...countProblems(nodes),
    ...doubles(nodes).map((id) => `More than one node has the id '${id}'`),
    ...doubles(edges).map((id) => `More than one edge has the id '${id}'`),
    ...nodes.filter(({ type }) => !isNodeType(type)).map(({ id, type }) => `Node '${id}' has the unknown type '${type}'`),
    ...edges.flatMap((edge) => danglingProblems(edge, ways)),
    ...configured.flatMap(({ node, config }) =>
      config?.type === 'condition' ? branchProblems(node, config.cases, ways) : plainProblems(node, ways),
    ),
    ...reachProblems(nodes, ways),
  ];
}

/** The connections between the nodes of a graph. */
class Ways {
  private readonly nodes: ReadonlyMap<string, WorkflowNode>;
  private readonly from: ReadonlyMap<string, readonly WorkflowEdge[]>;
  /** The ids of the nodes from which an end node can be reached. */
  private readonly leading: ReadonlySet<string>;

  constructor(nodes: readonly WorkflowNode[], edges: readonly WorkflowEdge[]) {
    this.nodes = new Map(nodes.map((node) => [node.id, node]));
    this.from = grouped(edges, ({ source }) => source);
    const into = grouped(edges, ({ target }) => target);
    const ends = nodes.filter(({ type }) => type === 'end').map(({ id }) => id);
    this.leading = new Set(distances(ends, (id) => (into.get(id) ?? []).map(({ source }) => source)).keys());
  }

  has = (id: string): boolean => this.nodes.has(id);

  out = (id: string): readonly WorkflowEdge[] => this.from.get(id) ?? [];

  leadsToEnd = (id: string): boolean => this.leading.has(id);

  /**
   * The number of steps on the shortest path to each reachable node, both nodes included. Paths stop at end nodes, because a run
   * ends with the first one.
   */
  stepsFrom(id: string): ReadonlyMap<string, number> {
    const next = (at: string) => (this.nodes.get(at)?.type === 'end' ? [] : this.out(at).map(({ target }) => target));
    return distances([id], (at) => next(at).filter(this.has));
  }
}

function distances(from: readonly string[], next: (id: string) => readonly string[]): ReadonlyMap<string, number> {
  const found = new Map(from.map((id) => [id, 1]));
  // A map iterates in insertion order and includes entries that are added meanwhile, so this is a breadth-first search.
  for (const [id, distance] of found) for (const each of next(id)) if (!found.has(each)) found.set(each, distance + 1);
  return found;
}

function grouped<Item>(items: readonly Item[], keyOf: (item: Item) => string): ReadonlyMap<string, readonly Item[]> {
  const groups = new Map<string, Item[]>();
  for (const item of items) groups.set(keyOf(item), [...(groups.get(keyOf(item)) ?? []), item]);
  return groups;
}

function doubles(items: readonly Readonly<{ id: string }>[]): readonly string[] {
  return [...grouped(items, ({ id }) => id)].filter(([, same]) => same.length > 1).map(([id]) => id);
}

function countProblems(nodes: readonly WorkflowNode[]): readonly string[] {
  const [starts, ends] = ['start', 'end'].map((type) => nodes.filter((node) => node.type === type).length);
  return [
    ...(starts === 1 ? [] : ['Workflow must have exactly one start node']),
    ...(ends === 0 ? ['Workflow must have at least one end node'] : []),
  ];
}

const danglingProblems = ({ id, source, target }: WorkflowEdge, ways: Ways): readonly string[] => [
  ...(ways.has(source) ? [] : [`Edge '${id}' begins at '${source}', which is no node`]),
  ...(ways.has(target) ? [] : [`Edge '${id}' leads to '${target}', which is no node`]),
];

function plainProblems(node: WorkflowNode, ways: Ways): readonly string[] {
  const out = ways.out(node.id).length;
  if (node.type === 'start' && out === 0) return ['Start node must have an outgoing edge'];
  return out > 1 ? [`${nameOfNode(node)} has more than one outgoing edge`] : [];
}

function branchProblems(node: WorkflowNode, cases: readonly ConditionCase[], ways: Ways): readonly string[] {
  const name = nameOfNode(node);
  const edges = ways.out(node.id);
  const handles = cases.map(({ sourceHandle }) => sourceHandle);
  const branches = grouped(edges, ({ sourceHandle }) => sourceHandle ?? '');
  return [
    ...(edges.length < 2 ? [`${name} must have at least 2 outgoing edges`] : []),
    ...(cases.some(({ expression }) => expression !== '') ? [] : [`${name} must have at least one case with an expression`]),
    ...doubles(handles.map((id) => ({ id }))).map((handle) => `${name} has more than one case with the handle '${handle}'`),
    ...(branches.has(ELSE_HANDLE) ? [] : [`${name} must have an '${ELSE_HANDLE}' branch`]),
    ...[...branches].flatMap(([handle, of]) => edgesOfBranchProblems(name, handle, { of, handles, ways })),
    ...cases.flatMap((each) => caseProblems(name, each, branches.has(each.sourceHandle))),
  ];
}

type Branch = Readonly<{ of: readonly WorkflowEdge[]; handles: readonly string[]; ways: Ways }>;

function edgesOfBranchProblems(name: string, handle: string, { of, handles, ways }: Branch): readonly string[] {
  if (handle === '') return [`${name} has an outgoing edge without a sourceHandle`];
  const isKnown = handle === ELSE_HANDLE || handles.includes(handle);
  return [
    ...(isKnown ? [] : [`${name} has an edge from the unknown branch '${handle}'`]),
    ...(of.length > 1 ? [`${name} has more than one edge from the branch '${handle}'`] : []),
    ...(of.every(({ target }) => ways.leadsToEnd(target)) ? [] : [`Branch '${handle}' of ${name} must reach an end node`]),
  ];
}

function caseProblems(name: string, { expression, sourceHandle }: ConditionCase, hasEdge: boolean): readonly string[] {
  if (expression !== '' && !hasEdge) return [`${name}: case '${sourceHandle}' has an expression but no outgoing edge`];
  if (expression === '' && hasEdge) return [`${name}: case '${sourceHandle}' has an outgoing edge but no expression`];
  return [];
}

/** Problems with the paths from the start node. Notes need no connection. */
function reachProblems(nodes: readonly WorkflowNode[], ways: Ways): readonly string[] {
  const start = nodes.find(({ type }) => type === 'start');
  if (!start || ways.out(start.id).length === 0) return [];
  const steps = ways.stepsFrom(start.id);
  const lost = nodes.filter(({ id, type }) => type !== 'note' && type !== 'start' && !steps.has(id));
  const toEnds = nodes.filter(({ type }) => type === 'end').flatMap(({ id }) => steps.get(id) ?? []);
  const shortest = Math.min(...toEnds);
  const isTooLong = toEnds.length > 0 && shortest > RUN_STEPS_MAX;
  return [
    ...lost.map((node) => `${nameOfNode(node)} cannot be reached from the start node`),
    ...(isTooLong ? [`The shortest way to an end node takes ${shortest} steps; a run has at most ${RUN_STEPS_MAX}`] : []),
  ];
}
