import { expect, it } from '@jest/globals';
import { readConfig } from '../../platform/config/config.js';
import { GuardrailsModule } from './guardrails.module.js';

it.each([
  [{ GUARDRAILS_FLOOR: '{"controls":[]}' }, 'GUARDRAILS_FLOOR.enabled must be true.'],
  [{ GUARDRAILS_FLOOR: '{' }, 'GUARDRAILS_FLOOR must be a JSON object.'],
  [{ GUARDRAILS_CHECKS_ENABLED: 'pii,mood' }, 'GUARDRAILS_CHECKS_ENABLED may hold pii, '],
  [
    { GUARDRAILS_CHECKS_ENABLED: 'pii', GUARDRAILS_FLOOR: '{"enabled":true,"controls":[{"check":"url","stage":"input"}]}' },
    'GUARDRAILS_FLOOR.controls[0].check must be one of pii.',
  ],
])('a service with %j does not start', (environment, problem) => {
  expect(() => GuardrailsModule.settingsIn(readConfig(environment))).toThrow(problem);
});

it('a service without settings allows all checks and has no floor', () => {
  expect(GuardrailsModule.settingsIn(readConfig({}))).toMatchObject({
    ...{ enabled: true, floor: undefined, judgeModelId: undefined, retentionMs: 30 * 86_400_000 },
    checks: { size: 7 },
  });
});
