import { expect, it } from '@jest/globals';
import { agentFileIn } from './format/agent-file.policy.js';
import { importPlan, NEW_AGENT, type Offered, type OwnedThings } from './import-plan.policy.js';

const NOTHING_OFFERED: Offered = {
  isOffered: () => false,
  isBuiltin: () => false,
  builtinId: () => '',
  neededSecrets: () => [],
  models: new Set(),
};

it('a plan matches a source by its name with the oldest one of that name, also if the file refers to a newer one', () => {
  const owned: OwnedThings = {
    sources: [
      { id: 'other', name: 'News' },
      { id: 'oldest', name: 'Handbook' },
      { id: 'newest', name: 'Handbook' },
    ],
    tools: [],
    equalPrompts: [],
    models: [],
  };
  const file = agentFileIn({
    apiVersion: 'docsgpt.arc53.com/v1',
    kind: 'Agent',
    metadata: {},
    spec: { name: 'Guide', sources: [{ name: 'Handbook', ref: 'newest' }, { name: 'Handbook' }, { name: 'Gone', ref: 'other' }] },
  });
  const { sources } = importPlan(file, NEW_AGENT, owned, NOTHING_OFFERED, undefined);
  expect(sources.map(({ status, target_id: id }) => [status, id])).toEqual([
    ['matched', 'oldest'],
    ['matched', 'oldest'],
    ['missing', null],
  ]);
});
