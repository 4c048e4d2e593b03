import { afterAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  BROKEN_GRAPHS,
  branching,
  around,
  agentNode,
  SOUND_GRAPHS,
  type GraphBody,
} from '../../../test/support/workflow-graphs.js';
import type { LanguageModels } from '../models/model/language-model.port.js';
import { GuardedTemplates } from '../prompts/templates/guarded-templates.js';
import { CheckedGraphs } from './checked-graphs.js';
import { GuardedExpressions } from './expressions/guarded-expressions.js';
import type { WorkflowReferences } from './workflow-references.js';
import { nodeConfigOf } from './node-config.policy.js';

const templates = new GuardedTemplates();
const expressions = new GuardedExpressions();
afterAll(() => Promise.all([templates.close(), expressions.close()]));

const list = async (ownerId: string) => [
  { id: 'offline', structuredOutput: true },
  { id: 'plain', structuredOutput: false },
  ...(ownerId === 'bob' ? [{ id: 'own', structuredOutput: true }] : []),
];
const graphs = new CheckedGraphs(expressions, templates, { list } as unknown as LanguageModels, {} as WorkflowReferences);
const check = (body: unknown) => {
  const { nodes, edges } = body as Partial<GraphBody>;
  return graphs.check('alice', nodes, edges);
};
/** Compares only the beginning of messages that come from a library (those that end with `…`). */
const heard = (problems: readonly string[], expected: readonly string[]) =>
  problems.map((problem, at) => {
    const beginning = expected[at]?.endsWith('…') ? expected[at].slice(0, -1) : undefined;
    return beginning !== undefined && problem.startsWith(beginning) ? expected[at] : problem;
  });

describe('a graph is refused with all its problems', () => {
  it.each(BROKEN_GRAPHS)('%s', async (_, body, expected) => {
    const { problems } = await check(body);
    expect(heard(problems, expected)).toEqual(expected);
  });

  it('if its model does not support structured output', async () => {
    const { problems } = await check(around(agentNode({ model_id: 'plain', json_schema: { type: 'object' } })));
    expect(problems).toEqual(["Agent node 'agent': the model plain does not support structured output"]);
  });

  it('if its model belongs to another user', async () => {
    const graph = around(agentNode({ model_id: 'own' }));
    const problemsOf = async (ownerId: string) => (await graphs.check(ownerId, graph.nodes, graph.edges)).problems;
    expect([await problemsOf('alice'), await problemsOf('bob')]).toEqual([[expect.stringContaining('own')], []]);
  });

  it('of which at most a hundred are listed', async () => {
    const nodes = Array.from({ length: 200 }, () => ({}));
    const { problems } = await check({ nodes });
    expect([problems.length, problems.at(-1)]).toEqual([101, 'and 301 more problems']);
  });

  it('if its expressions or templates are nested too deeply', async () => {
    const deep = `${'('.repeat(4_000)}1${')'.repeat(4_000)}`;
    const { problems } = await check(branching([{ expression: deep, sourceHandle: 'case_0' }]));
    expect(problems).toEqual([expect.stringContaining("the expression of case 'case_0' is not valid")]);
    const nested = `{{ ${'['.repeat(20_000)}${']'.repeat(20_000)} }}`;
    expect((await check(around(agentNode({ prompt_template: nested })))).problems).toHaveLength(1);
  });
});

describe('a graph is accepted', () => {
  it.each(SOUND_GRAPHS)('%s', async (_, body) => {
    expect((await check(body)).problems).toEqual([]);
  });

  it('with its data unchanged and its missing fields filled in', async () => {
    const { graph } = await check({
      nodes: [
        { id: 's', type: 'start', width: 7 },
        { id: 'e', type: 'end', data: { output_template: 'x', own: { a: null } } },
      ],
      edges: [{ id: '1', source: 's', target: 'e', sourceHandle: ' out ', animated: true }],
    });
    const blank = { title: '', description: '', position: { x: 0, y: 0 } };
    expect(graph).toEqual({
      nodes: [
        { id: 's', type: 'start', ...blank, data: {} },
        { id: 'e', type: 'end', ...blank, data: { output_template: 'x', own: { a: null } } },
      ],
      edges: [{ id: '1', source: 's', target: 'e', sourceHandle: 'out', targetHandle: null }],
    });
  });

  it('with node settings in `data` or in `data.config`', async () => {
    const written = { prompt_template: 'Hi', chunks: '3', tools: 'one', json_schema: { schema: { type: 'object' } } };
    const flat = nodeConfigOf({ type: 'agent', data: written });
    expect(flat).toMatchObject({
      agentType: 'classic',
      chunks: 3,
      tools: ['one'],
      streamToUser: true,
      jsonSchema: { type: 'object' },
    });
    expect(nodeConfigOf({ type: 'agent', data: { config: written, chunks: 9 } })).toEqual(flat);
    expect(nodeConfigOf({ type: 'approval', data: {} })).toBeUndefined();
  });
});

it('any JSON gets an answer, and an accepted graph is accepted again unchanged', async () => {
  const nodeLike = fc.record(
    {
      id: fc.oneof(fc.constantFrom('a', 'b', 'c', '__proto__'), fc.jsonValue()),
      type: fc.oneof(fc.constantFrom('start', 'end', 'agent', 'state', 'condition', 'code', 'note', 'toString'), fc.jsonValue()),
      title: fc.jsonValue(),
      position: fc.jsonValue(),
      data: fc.oneof(
        fc.jsonValue(),
        fc.record(
          {
            config: fc.jsonValue(),
            cases: fc.oneof(
              fc.jsonValue(),
              fc.array(fc.record({ expression: fc.jsonValue(), sourceHandle: fc.jsonValue() }, { requiredKeys: [] })),
            ),
            operations: fc.oneof(fc.jsonValue(), fc.array(fc.record({ expression: fc.string(), target_variable: fc.string() }))),
            json_schema: fc.jsonValue(),
            tools: fc.jsonValue(),
            code: fc.jsonValue(),
            prompt_template: fc.oneof(
              fc.jsonValue(),
              fc.string().map((text) => `{{ ${text} }}`),
            ),
          },
          { requiredKeys: [] },
        ),
      ),
    },
    { requiredKeys: [] },
  );
  const end = fc.oneof(fc.constantFrom('a', 'b', 'c'), fc.jsonValue());
  const edgeLike = fc.record(
    { id: fc.jsonValue(), source: end, target: end, sourceHandle: fc.jsonValue() },
    { requiredKeys: [] },
  );
  const nodes = fc.oneof(fc.jsonValue(), fc.array(fc.oneof(nodeLike, fc.jsonValue()), { maxLength: 6 }));
  const edges = fc.oneof(fc.jsonValue(), fc.array(fc.oneof(edgeLike, fc.jsonValue()), { maxLength: 6 }));
  await fc.assert(
    fc.asyncProperty(nodes, edges, async (someNodes, someEdges) => {
      const { graph, problems } = await graphs.check('alice', someNodes, someEdges);
      const again = await graphs.check('alice', graph.nodes, graph.edges);
      if (problems.length === 0) expect(again).toEqual({ graph, problems: [] });
    }),
    { numRuns: 300 },
  );
});
