type Fields = Readonly<Record<string, unknown>>;

/** Nodes and edges as clients send them. */
export type GraphBody = Readonly<{ nodes: readonly unknown[]; edges: readonly unknown[] }>;

export const node = (type: string, id = type, data: Fields = {}): Fields => ({
  id,
  type,
  title: id,
  position: { x: 0, y: 0 },
  data,
});

export const edge = (source: string, target: string, sourceHandle?: string): Fields => ({
  id: `${source}-${sourceHandle ?? ''}-${target}`,
  source,
  target,
  ...(sourceHandle !== undefined && { sourceHandle }),
});

/** Nodes in a row, with an edge from each to the next. */
export function chain(...nodes: readonly Fields[]): GraphBody {
  const ids = nodes.map(({ id }) => id as string);
  return { nodes, edges: ids.slice(1).map((id, at) => edge(ids[at]!, id)) };
}

/** Start, one node, end. */
export const around = (between: Fields): GraphBody => chain(node('start'), between, node('end'));

export const agentNode = (config: Fields = {}): Fields => node('agent', 'agent', config);

const CASE = { name: 'yes', expression: 'query == "a"', sourceHandle: 'case_0' };

/** A condition with cases. By default it has one, and both branches lead to the end. */
export function branching(cases: readonly unknown[] = [CASE], edges?: readonly Fields[]): GraphBody {
  return {
    nodes: [node('start'), node('condition', 'if', { mode: 'advanced', cases }), node('end')],
    edges: [edge('start', 'if'), ...(edges ?? [edge('if', 'end', 'case_0'), edge('if', 'end', 'else')])],
  };
}

const without = (field: string): Fields => Object.fromEntries(Object.entries(node('agent')).filter(([name]) => name !== field));
const more = ({ nodes, edges }: GraphBody, nodesMore: readonly unknown[], edgesMore: readonly unknown[] = []): GraphBody => ({
  nodes: [...nodes, ...nodesMore],
  edges: [...edges, ...edgesMore],
});
const plain = chain(node('start'), node('end'));
const many = (count: number) => Array.from({ length: count }, (_, at) => node('note', `note ${at}`));

/** Graphs that are refused, each with all its problems. */
export const BROKEN_GRAPHS: readonly (readonly [string, unknown, readonly string[]])[] = [
  ['nothing', {}, ['Workflow must have at least one node']],
  [
    'nodes and edges that are not lists',
    { nodes: 'a', edges: 1 },
    ['nodes must be a list', 'edges must be a list', 'Workflow must have at least one node'],
  ],
  ['no start', chain(agentNode(), node('end')), ['Workflow must have exactly one start node']],
  ['two starts', more(plain, [node('start', 'again')], [edge('again', 'end')]), ['Workflow must have exactly one start node']],
  ['no end', chain(node('start'), agentNode()), ['Workflow must have at least one end node']],
  ['a start without an edge', { nodes: [node('start'), node('end')], edges: [] }, ['Start node must have an outgoing edge']],
  ['a node without a type', more(plain, [without('type')]), ['Node 3 must have a type']],
  ['a node without an id', more(plain, [without('id')]), ['Node 3 must have an id']],
  ['a node that is not an object', more(plain, ['x']), ['Node 3 must be an object']],
  ['a node with a number as its id', more(plain, [{ ...node('note'), id: 7 }]), ['Node 3 must have an id']],
  [
    'data that is a list',
    around({ ...agentNode(), data: [] }),
    ["Node 'agent' has an invalid configuration: data must be an object"],
  ],
  [
    'a title that is not text',
    around({ ...agentNode(), title: 7 }),
    ["Node 'agent': title must be a text of at most 200 characters"],
  ],
  [
    'an invalid position',
    around({ ...agentNode(), position: { x: 'left' } }),
    ["Node 'agent': position must hold the numbers x and y"],
  ],
  ['an unknown type', around(node('approval')), ["Node 'approval' has the unknown type 'approval'"]],
  ['two nodes with one id', more(plain, [node('note', 'n'), node('note', 'n')]), ["More than one node has the id 'n'"]],
  [
    'two edges with one id',
    { nodes: plain.nodes, edges: [edge('start', 'end'), { ...edge('end', 'start'), id: 'start--end' }] },
    ["More than one edge has the id 'start--end'"],
  ],
  [
    'an edge without an id',
    { ...plain, edges: [{ source: 'start', target: 'end' }] },
    ['Edge 1 must have an id', 'Start node must have an outgoing edge'],
  ],
  [
    'an edge from a missing node',
    more(plain, [], [edge('gone', 'end')]),
    ["Edge 'gone--end' begins at 'gone', which is no node"],
  ],
  [
    'an edge to a missing node',
    { nodes: plain.nodes, edges: [edge('start', 'gone')] },
    ["Edge 'start--gone' leads to 'gone', which is no node", "End node 'end' cannot be reached from the start node"],
  ],
  ['a node that no edge leads to', more(plain, [agentNode()]), ["Agent node 'agent' cannot be reached from the start node"]],
  [
    'a node after an end',
    more(plain, [agentNode()], [edge('end', 'agent')]),
    ["Agent node 'agent' cannot be reached from the start node"],
  ],
  [
    'two edges from a plain node',
    more(around(agentNode()), [], [edge('agent', 'start')]),
    ["Agent node 'agent' has more than one outgoing edge"],
  ],
  [
    'a loop without an exit',
    {
      nodes: [node('start'), node('state', 'a'), node('state', 'b'), node('end')],
      edges: [edge('start', 'a'), edge('a', 'b'), edge('b', 'a')],
    },
    ["End node 'end' cannot be reached from the start node"],
  ],
  [
    'a path of 51 steps',
    chain(node('start'), ...Array.from({ length: 49 }, (_, at) => node('state', `s${at}`)), node('end')),
    ['The shortest way to an end node takes 51 steps; a run has at most 50'],
  ],
  ['201 nodes', more(plain, many(199)), ['Too many workflow nodes (max 200)']],
  [
    '401 edges',
    more(
      plain,
      [],
      Array.from({ length: 400 }, (_, at) => ({ ...edge('start', 'end'), id: `e${at}` })),
    ),
    ['Too many workflow edges (max 400)'],
  ],
  [
    'a condition with one edge',
    branching([CASE], [edge('if', 'end', 'else')]),
    [
      "Condition node 'if' must have at least 2 outgoing edges",
      "Condition node 'if': case 'case_0' has an expression but no outgoing edge",
    ],
  ],
  [
    'a condition without an expression',
    branching([{ ...CASE, expression: ' ' }]),
    [
      "Condition node 'if' must have at least one case with an expression",
      "Condition node 'if': case 'case_0' has an outgoing edge but no expression",
    ],
  ],
  [
    'a condition without cases',
    branching([]),
    [
      "Condition node 'if' must have at least one case with an expression",
      "Condition node 'if' has an edge from the unknown branch 'case_0'",
    ],
  ],
  [
    'cases that are not a list',
    branching({} as never),
    [
      "Condition node 'if' must have at least one case with an expression",
      "Condition node 'if' has an edge from the unknown branch 'case_0'",
      "Condition node 'if' cases must be a list",
    ],
  ],
  [
    'a case without a handle',
    branching([CASE, { expression: 'true' }]),
    ["Condition node 'if' has a case without a branch handle"],
  ],
  ['two cases with one handle', branching([CASE, CASE]), ["Condition node 'if' has more than one case with the handle 'case_0'"]],
  [
    'a case with the handle of the else branch',
    branching([CASE, { ...CASE, sourceHandle: 'else' }]),
    ["Condition node 'if' has a case with the handle else, which is the branch of all others"],
  ],
  [
    'an edge without a handle',
    branching([CASE], [edge('if', 'end', 'case_0'), edge('if', 'end', 'else'), edge('if', 'end')]),
    ["Condition node 'if' has an outgoing edge without a sourceHandle"],
  ],
  [
    'two edges from one branch',
    branching([CASE], [edge('if', 'end', 'case_0'), edge('if', 'end', 'else'), { ...edge('if', 'end', 'else'), id: 'x' }]),
    ["Condition node 'if' has more than one edge from the branch 'else'"],
  ],
  [
    'no else branch',
    branching([CASE, { ...CASE, sourceHandle: 'case_1' }], [edge('if', 'end', 'case_0'), edge('if', 'end', 'case_1')]),
    ["Condition node 'if' must have an 'else' branch"],
  ],
  [
    'a branch that loops for ever',
    more(branching([CASE], [edge('if', 'end', 'case_0'), edge('if', 'a', 'else')]), [node('state', 'a')], [edge('a', 'a')]),
    ["Branch 'else' of Condition node 'if' must reach an end node"],
  ],
  [
    'an invalid expression',
    branching([{ ...CASE, expression: 'query ==' }]),
    [beginsWith("Condition node 'if': the expression of case 'case_0' is not valid: ")],
  ],
  [
    'incomplete operations',
    around(
      node('state', 'set', {
        operations: [{ expression: '1' }, { target_variable: 'b' }, { expression: '', target_variable: '' }],
      }),
    ),
    [
      "Set State node 'set' operation 1 has an expression but no target variable",
      "Set State node 'set' operation 2 has a target variable but no expression",
    ],
  ],
  [
    'an operation with an invalid expression',
    around(node('state', 'set', { config: { operations: [{ expression: '1 +', target_variable: 'a' }] } })),
    [beginsWith("Set State node 'set': the expression of 'a' is not valid: ")],
  ],
  [
    'a variable named like a property of every object',
    around(node('state', 'set', { operations: [{ expression: '1', target_variable: 'constructor' }] })),
    [
      "Set State node 'set' target_variable must not be constructor",
      "Set State node 'set' operation 1 has an expression but no target variable",
    ],
  ],
  ['a config that is not an object', around(agentNode({ config: 'x' })), ["Agent node 'agent' config must be an object"]],
  [
    'an agent of an unknown type',
    around(agentNode({ agent_type: 'oracle' })),
    ["Agent node 'agent' agent_type must be one of classic, react, agentic, research"],
  ],
  [
    'an agent with settings of wrong types',
    around(agentNode({ system_prompt: 1, stream_to_user: 'yes', tools: [1], chunks: 'many', file_passing: 'post' })),
    [
      "Agent node 'agent' system_prompt must be a text",
      "Agent node 'agent' stream_to_user must be a boolean",
      "Agent node 'agent' tools must be a list of texts",
      "Agent node 'agent' chunks must be a whole number between 0 and 500",
      "Agent node 'agent' file_passing must be one of auto, native, extract",
    ],
  ],
  [
    'a schema without a type',
    around(agentNode({ json_schema: {} })),
    ["Agent node 'agent' Invalid JSON schema: it needs a type."],
  ],
  [
    'an unknown model',
    around(agentNode({ model_id: 'oracle' })),
    ["Agent node 'agent' names no model of this service, and none of its owner: oracle"],
  ],
  [
    'an invalid template',
    around(agentNode({ prompt_template: '{{ agent.query }} {% if %}' })),
    [beginsWith("Agent node 'agent': The prompt template is not valid: ")],
  ],
  [
    'an end with an invalid template',
    chain(node('start'), node('end', 'end', { output_template: '{{ agent. }}' })),
    [beginsWith("End node 'end': The prompt template is not valid: ")],
  ],
  ['empty code', around(node('code', 'code', { code: ' ' })), ["Code node 'code' must have code to run"]],
  [
    'code with an invalid schema and timeout',
    around(node('code', 'code', { code: 'x = 1', json_schema: [], timeout: -1 })),
    [
      "Code node 'code' timeout must be a number between 0.001 and 3600",
      "Code node 'code' Invalid JSON schema: it must be an object.",
    ],
  ],
  ['a node that is too large', around(agentNode({ note: 'x'.repeat(1024 * 1024) })), [beginsWith('The workflow has 1048')]],
];

/** Marks a problem whose end comes from a library. Only its beginning is compared. */
function beginsWith(text: string): string {
  return `${text}…`;
}

/** Graphs that are accepted. */
export const SOUND_GRAPHS: readonly (readonly [string, GraphBody])[] = [
  ['start and end', plain],
  ['an unconnected note', more(plain, [node('note')])],
  ['a condition', branching()],
  ['an empty case', branching([CASE, { name: '', expression: '', sourceHandle: 'case_1' }])],
  [
    'a loop with an exit',
    more(branching([CASE], [edge('if', 'end', 'case_0'), edge('if', 'a', 'else')]), [node('state', 'a')], [edge('a', 'if')]),
  ],
  [
    'an agent with everything',
    around(
      agentNode({
        config: {
          agent_type: 'agentic',
          llm_name: 'offline',
          system_prompt: 'Be brief.',
          prompt_template: '{{ agent.query }}',
          output_variable: 'first answer',
          stream_to_user: false,
          tools: [],
          sources: ['default'],
          chunks: '4',
          retriever: '',
          model_id: 'offline',
          json_schema: { schema: { type: 'object', properties: { a: { type: 'string' } } } },
          input_documents: ['*'],
          file_passing: 'native',
        },
      }),
    ),
  ],
  ['braces that are not a template', chain(node('start'), node('end', 'end', { output_template: 'if {x} then {% y' }))],
  ['code', around(node('code', 'code', { code: 'print(1)', inputs: ['*'], timeout: 5, json_schema: null }))],
  ['50 steps', chain(node('start'), ...Array.from({ length: 48 }, (_, at) => node('state', `s${at}`)), node('end'))],
  ['200 nodes', more(plain, many(198))],
  ['nulls for absent fields', around({ ...agentNode(), title: null, description: null, position: null, data: null })],
];
