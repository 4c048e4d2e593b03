import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { agentFileIn } from './format/agent-file.policy.js';
import { importDecisions, type Resolution } from './import-decisions.policy.js';
import { importPlan, NEW_AGENT, type Offered, type OwnedThings } from './import-plan.policy.js';

const owned: OwnedThings = {
  sources: [{ id: 'handbook', name: 'Handbook' }],
  tools: [{ id: 'weather', type: 'api_tool', label: 'Weather' }],
  equalPrompts: [],
  models: [{ id: 'own', display_name: 'Own', upstream_model_id: 'u', base_url: 'https://a.example' }],
};
const offered: Offered = {
  isOffered: (type) => type === 'api_tool',
  isBuiltin: (type) => type === 'memory',
  builtinId: (type) => `builtin-${type}`,
  neededSecrets: () => [],
  models: new Set(['m1']),
};
const OWN_TOOLS = ['weather', 'news'];

const decided = (spec: object, resolution: Resolution = {}) => {
  const document = { apiVersion: 'docsgpt.arc53.com/v1', kind: 'Agent', spec: { name: 'Guide', ...spec } };
  const file = agentFileIn(document);
  const plan = importPlan(file, NEW_AGENT, owned, offered, undefined);
  return importDecisions(file, plan, resolution, owned, (id) => OWN_TOOLS.includes(id));
};
const tool = (name: string, more: object = {}) => ({ type: 'api_tool', name, ...more });
const model = (name: string) => ({ type: 'custom', display_name: name, upstream_model_id: 'u', base_url: 'https://a.example' });

describe('the tools of a file', () => {
  const toolsOf = (tools: object[], choices: object = {}) => decided({ tools }, { tools: choices });

  it.each([
    ['is reused if the plan found it', undefined, { does: 'use', id: 'weather' }],
    ['is created if the caller wants that', { decision: 'create' }, { does: 'create', secrets: {} }],
    ['is replaced with another one of the caller', { decision: 'reuse', tool_id: 'news' }, { does: 'use', id: 'news' }],
    ['is left out if the caller wants that', { decision: 'skip' }, { does: 'leave-out' }],
  ])('a tool %s', (_, choice, decision) => {
    expect(toolsOf([tool('Weather')], { 'tool-0': choice })).toMatchObject({ tools: [decision], warnings: [] });
  });

  it('a tool of another user is not used, and the caller is warned', () => {
    const { tools, warnings } = toolsOf([tool('Stars')], { 'tool-0': { decision: 'reuse', tool_id: 'foreign' } });
    expect([tools, warnings]).toEqual([[{ does: 'create', secrets: {} }], ["Tool reuse id 'foreign' is not yours; ignored"]]);
  });

  it('only secrets that are texts are taken', () => {
    const secrets = { token: 't', empty: '', number: 1, none: null };
    expect(toolsOf([tool('Stars')], { 'tool-0': { secrets } }).tools).toEqual([{ does: 'create', secrets: { token: 't' } }]);
  });

  it('equal tools are created once, whatever they are called in the file, and others with the same name separately', () => {
    const { tools } = toolsOf([tool('Stars', { ref: 'a' }), tool('Stars', { ref: 'b' }), tool('Stars', { description: 'Far' })]);
    expect(tools.map(({ does }) => does)).toEqual(['create', 'share', 'create']);
    expect(tools[1]).toEqual({ does: 'share', with: 0 });
  });

  it('a tool is not shared with one that is left out', () => {
    const { tools } = toolsOf([tool('Stars'), tool('Stars')], { 'tool-0': { decision: 'skip' } });
    expect(tools.map(({ does }) => does)).toEqual(['leave-out', 'create']);
  });
});

describe('the sources of a file', () => {
  it('a mapping to a source of another user also gives up the match by name', () => {
    const sources = [{ name: 'Handbook', ref: 'r' }];
    expect(decided({ sources })).toMatchObject({ sources: ['handbook'], warnings: [] });
    expect(decided({ sources }, { sources: { Handbook: 'foreign' } })).toMatchObject({
      sources: [],
      sourcesByName: new Map(),
      warnings: ["Source mapping for 'Handbook' is not yours; ignored"],
    });
  });

  it('are found by their name and by their reference, and each is attached once', () => {
    const { sources, sourcesByName } = decided({
      sources: [
        { name: 'Handbook', ref: 'r1' },
        { name: 'Handbook', ref: 'r2' },
      ],
    });
    expect([sources, [...sourcesByName]]).toEqual([
      ['handbook'],
      [
        ['Handbook', 'handbook'],
        ['r1', 'handbook'],
        ['r2', 'handbook'],
      ],
    ]);
  });
});

it('a custom model is created only with a key, and an equal one of the caller is used without', () => {
  const available = [model('Own'), model('New'), model('Newer'), 'm1', 'm2'];
  const { models, warnings } = decided({ model: { available } }, { models: { New: { api_key: 'k' }, Newer: { api_key: ' ' } } });
  expect(models).toEqual([
    { does: 'use', id: 'own' },
    { does: 'create', apiKey: 'k' },
    { does: 'leave-out' },
    { does: 'use', id: 'm1' },
    { does: 'leave-out' },
  ]);
  expect(warnings).toEqual(["Custom model 'Newer' needs an API key; skipped", "Model 'm2' not available; skipped"]);
});

it('with any resolution each entry of a file has one decision, and only resources of the caller are used', () => {
  const names = fc.constantFrom('Handbook', 'Weather', 'Stars', 'Own', 'toString', '__proto__');
  const spec = fc.record({
    sources: fc.array(names.map((name) => ({ name }))),
    tools: fc.array(
      fc.oneof(
        names.map((name) => tool(name)),
        fc.constantFrom('memory', 'odd').map((type) => ({ type, builtin: true })),
      ),
    ),
    model: fc.record({ available: fc.array(fc.oneof(names.map(model), fc.constantFrom('m1', 'm2'))) }),
  });
  const ids = fc.constantFrom('handbook', 'weather', 'news', 'foreign');
  const choice = fc.oneof(
    ids,
    fc.record({ decision: fc.constantFrom('reuse', 'create', 'skip', 1), tool_id: fc.oneof(ids, fc.anything()) }),
    fc.record({ api_key: fc.oneof(fc.constant('k'), fc.anything()) }),
    fc.anything(),
  );
  const keys = fc.oneof(names, fc.constantFrom('tool-0', 'tool-1', 'tool-2'));
  const choices = fc.oneof(fc.dictionary(keys, choice), fc.anything());
  const resolution = fc.record({ sources: choices, tools: choices, models: choices });
  fc.assert(
    fc.property(spec, resolution, (given, chosen) => {
      const { sources, sourcesByName, tools, models } = decided(given, chosen);
      expect([tools.length, models.length]).toEqual([given.tools.length, given.model.available.length]);
      expect(sources.filter((id) => id !== 'handbook')).toEqual([]);
      expect([...sourcesByName.values()].filter((id) => id !== 'handbook')).toEqual([]);
      for (const [index, each] of tools.entries()) {
        if (each.does === 'use') expect([...OWN_TOOLS, 'builtin-memory']).toContain(each.id);
        if (each.does === 'share') expect([each.with < index, tools[each.with]!.does]).toEqual([true, 'create']);
      }
      for (const each of models) if (each.does === 'use') expect(['own', 'm1']).toContain(each.id);
    }),
  );
});
