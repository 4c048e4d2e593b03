import { expect, it } from '@jest/globals';
import { ignoredBy } from './ignored.policy.js';

const sent = { ignored: ['n'], instructionsAt: ['messages[0]'], sampling: { temperature: 1 } };

it.each([
  ['classic', true, ['n']],
  ['classic', false, ['n', 'messages[0]']],
  ['research', true, ['temperature', 'n']],
  ['research', false, ['temperature', 'n', 'messages[0]']],
  // A workflow takes instructions only from its nodes.
  ['workflow', true, ['temperature', 'n', 'messages[0]']],
])('an agent of the type %s (override of its prompt: %s) ignores %j', (agentType, allowSystemPromptOverride, ignored) =>
  expect(ignoredBy({ agentType, allowSystemPromptOverride }, sent)).toEqual(ignored),
);

it('an agent that is unknown by now ignores the instructions', () => {
  expect(ignoredBy(undefined, sent)).toEqual(['n', 'messages[0]']);
});
