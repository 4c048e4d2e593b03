import { expect, it } from '@jest/globals';
import { actionsOf } from './guardrail-catalog.policy.js';

it.each(['pii', 'secrets', 'denylist', 'url'] as const)('the check %s finds positions, so it can redact', (check) =>
  expect(actionsOf(check)).toEqual(['flag', 'redact', 'block']),
);
it.each(['injection', 'groundedness', 'policy'] as const)('the check %s finds no positions, so it cannot redact', (check) =>
  expect(actionsOf(check)).toEqual(['flag', 'block']),
);
