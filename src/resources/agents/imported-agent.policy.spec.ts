import { describe, expect, it } from '@jest/globals';
import type { AgentConfiguration } from './agent.events.js';
import { BLANK_AGENT } from './agent.policy.js';
import { fieldsAfterImport, type ImportedAgent } from './imported-agent.policy.js';

const IMPORTED: ImportedAgent = {
  ...{ name: 'Guide', description: 'Guides.', agentType: 'classic', chunks: 2, promptId: 'p', tools: ['t'], models: ['m'] },
  ...{ defaultModelId: 'm', jsonSchema: null, config: {}, tokenLimit: null, requestLimit: null, allowSystemPromptOverride: true },
  ...{ retriever: null, sources: ['s1'], limitsTokens: false, limitsRequests: false },
};
const after = (imported: Partial<ImportedAgent>, current: Partial<AgentConfiguration> = {}, slug?: string) =>
  fieldsAfterImport({ ...BLANK_AGENT, ...current }, { ...IMPORTED, ...imported }, slug);

it('an import overrides the fields that a file has, and the others only if the file sets them', () => {
  const { retriever: _r, sources: _s, limitsTokens: _t, limitsRequests: _q, ...fields } = IMPORTED;
  expect(after({ sources: [], retriever: 'classic' })).toStrictEqual(fields);
  expect(after({ mcpAsk: false, workflowId: null }, {}, 'guide')).toMatchObject({
    slug: 'guide',
    mcpAsk: false,
    workflowId: null,
  });
});

describe('the limits after an import', () => {
  it.each([
    [false, 7, 8, null, null],
    [true, 7, 8, 7, 7],
    [true, null, 8, 8, 8],
    [true, null, null, 50_000, 500],
  ])(
    'that limits use: %s, to %j, over a limit of %j, are %j tokens and %j requests',
    (limits, stated, current, tokens, requests) =>
      expect(
        after(
          { limitsTokens: limits, tokenLimit: stated, limitsRequests: limits, requestLimit: stated },
          { tokenLimit: current, requestLimit: current },
        ),
      ).toMatchObject({ tokenLimit: tokens, requestLimit: requests }),
  );
});

describe('the retriever after an import', () => {
  const retrieverOf = (imported: Partial<ImportedAgent>, retriever: string) => after(imported, { retriever }).retriever;
  it.each([
    ['hybrid', ['s1'], 'classic', 'hybrid'],
    ['hybrid', ['s1'], 'hybrid', undefined],
    // An export names the default for an agent that has none.
    ['classic', ['s1'], '', undefined],
    [null, ['s1'], 'hybrid', undefined],
    [null, [], 'hybrid', 'classic'],
    [null, [], '', undefined],
  ])('%j with the sources %j changes %j to %j', (retriever, sources, current, changed) =>
    expect(retrieverOf({ retriever, sources }, current)).toBe(changed),
  );
});

describe('the sources after an import', () => {
  const current = { source: 's1', additionalSources: ['s2'] };
  it.each([
    [['s1', 's2'], undefined],
    [['s2', 's1', 's2'], undefined],
    [['s3', 's1'], { source: 's1', additionalSources: ['s3'] }],
    [['s2', 's3'], { source: 's2', additionalSources: ['s3'] }],
    [['s1'], { source: 's1', additionalSources: [] }],
    [['s1', 's2', 's3'], { source: 's1', additionalSources: ['s2', 's3'] }],
    [[], { source: '', additionalSources: [] }],
  ])('%j changes them to %j', (sources, changed) => {
    const { source, additionalSources } = after({ sources }, current);
    expect(source === undefined ? undefined : { source, additionalSources }).toEqual(changed);
  });
});
