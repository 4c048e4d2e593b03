import { expect, it } from '@jest/globals';
import fc from 'fast-check';
import { Rejection } from '../../../../kernel/rejection.js';
import { type AgentFile, agentFileIn } from './agent-file.policy.js';

type Json = Record<string, unknown>;

const whole = {
  apiVersion: 'docsgpt.arc53.com/v1',
  kind: 'Agent',
  metadata: { id: 'a1', slug: 'guide' },
  spec: {
    name: 'Guide',
    description: 'Knows',
    agent_type: 'workflow',
    retriever: 'classic',
    chunks: 4,
    prompt: { name: 'Polite', content: 'Be polite.' },
    model: {
      default: 'm1',
      available: [
        'm1',
        {
          type: 'custom',
          display_name: 'Own',
          upstream_model_id: 'own',
          base_url: 'https://models.example',
          capabilities: { tools: true },
          requires_secrets: ['api_key'],
          ref: 'm2',
        },
      ],
    },
    sources: [{ name: 'Handbook', type: 'file', ref: 's1' }],
    tools: [
      { type: 'memory', builtin: true, ref: 't1' },
      {
        type: 'api_tool',
        name: 'Weather',
        display_name: 'Sky',
        description: 'Looks',
        config: { actions: {} },
        actions: [{ name: 'look', active: true, require_approval: false, access: 'read', body: { city: { value: 'Bonn' } } }],
        requires_secrets: ['token'],
        ref: 't2',
      },
    ],
    limits: { limited_token_mode: true, token_limit: 5, limited_request_mode: true, request_limit: 6 },
    json_schema: { type: 'object' },
    allow_system_prompt_override: true,
    mcp_ask: true,
    config: { restrict_origins: false },
    workflow: {
      name: 'Flow',
      description: 'Flows',
      nodes: [{ id: 'n', type: 'agent', title: 'Cook', description: 'Cooks', position: { x: 1, y: 2 }, config: { tools: [] } }],
      edges: [{ id: 'e', source: 'n', target: 'n', sourceHandle: 'yes', targetHandle: 'no' }],
    },
  },
};

/** The content of mappings that belong to others, so that all keys are known. */
const OPAQUE = new Set(['capabilities', 'config', 'json_schema', 'body']);

/** The mappings of a document whose keys are known, each with its path in the file. */
function mappingsIn(value: unknown, path = '', key = ''): readonly Readonly<{ path: string; mapping: Json }>[] {
  if (OPAQUE.has(key)) return [];
  if (Array.isArray(value)) return value.flatMap((each, index) => mappingsIn(each, `${path}[${index}]`));
  if (typeof value !== 'object' || value === null) return [];
  const below = Object.entries(value).flatMap(([name, each]) => mappingsIn(each, path === '' ? name : `${path}.${name}`, name));
  return [{ path, mapping: value as Json }, ...below];
}

const places = mappingsIn(whole).map(({ path }) => path);
const changed = (change: (mappings: ReadonlyMap<string, Json>) => void): unknown => {
  const document = structuredClone(whole);
  change(new Map(mappingsIn(document).map(({ path, mapping }) => [path, mapping])));
  return document;
};
const outcomeOf = (document: unknown): AgentFile | string => {
  try {
    return agentFileIn(document);
  } catch (error) {
    if (error instanceof Rejection && error.code === 'invalid-request') return error.message;
    throw error;
  }
};

it('a whole file has no unknown keys', () => {
  expect(agentFileIn(whole)).toMatchObject({ name: 'Guide', defaultModel: 'm1', unknownKeys: [] });
});

it('every unknown key is reported with its path, wherever it is', () => {
  fc.assert(
    fc.property(fc.subarray(places), (chosen) => {
      const document = changed((mappings) => chosen.forEach((path) => Object.assign(mappings.get(path)!, { odd: 1 })));
      const { unknownKeys, ...read } = agentFileIn(document);
      expect([...unknownKeys].sort()).toEqual(chosen.map((path) => (path === '' ? 'odd' : `${path}.odd`)).sort());
      expect(read).toEqual({ ...agentFileIn(whole), unknownKeys: undefined });
    }),
  );
});

it('the workflow of an agent that has none is an unknown key', () => {
  const spec = { ...whole.spec, agent_type: 'classic' };
  expect(agentFileIn({ ...whole, spec })).toMatchObject({ workflow: undefined, unknownKeys: ['spec.workflow'] });
  expect(agentFileIn({ ...whole, spec: { ...spec, workflow: null } }).unknownKeys).toEqual([]);
});

it('null has the same effect as leaving a key out, except for the workflow, which it removes', () => {
  const keys = mappingsIn(whole).flatMap(({ path, mapping }) => Object.keys(mapping).map((key) => [path, key] as const));
  const others = keys.filter(([, key]) => key !== 'workflow');
  fc.assert(
    fc.property(fc.constantFrom(...others), ([path, key]) => {
      const without = changed((mappings) => delete mappings.get(path)![key]);
      expect(outcomeOf(changed((mappings) => (mappings.get(path)![key] = null)))).toEqual(outcomeOf(without));
    }),
  );
  const { workflow, ...spec } = whole.spec;
  expect(workflow).toBeDefined();
  expect(agentFileIn({ ...whole, spec }).workflow).toBeUndefined();
  expect(agentFileIn({ ...whole, spec: { ...spec, workflow: null } }).workflow).toBeNull();
});

it('a value of any other kind is taken, or refused with the name of its field', () => {
  const keys = mappingsIn(whole).flatMap(({ path, mapping }) => Object.keys(mapping).map((key) => [path, key] as const));
  const values = fc.oneof(fc.constantFrom(-1, 0.5, [], {}, [null], ['x'], true, ''), fc.jsonValue());
  fc.assert(
    fc.property(fc.constantFrom(...keys), values, ([path, key], value) => {
      // Such a key is refused with the name of the mapping that is read first.
      fc.pre(!JSON.stringify(value).includes('__proto__'));
      const outcome = outcomeOf(changed((mappings) => (mappings.get(path)![key] = value)));
      if (typeof outcome === 'string') expect(outcome).toContain(key.replace(/s$/, ''));
    }),
  );
});
