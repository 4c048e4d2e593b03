import { expect, it } from '@jest/globals';
import { ScriptedModels, text } from '../../../../test/support/tool-turns.js';
import { tracesIn } from '../../../../test/support/traces.js';
import { systemTiming } from '../../../platform/system-timing.js';
import { ModelFailed } from '../../../resources/models/model/language-model.port.js';
import { Judge } from './judge.js';

const found = { ownerId: 'ann', description: 'Price', condition: 'It fell.', found: '3', content: '3' };
const quota = { check: () => Promise.resolve({ allowed: true }) };

it('judgements leave nothing in the signal of the process', async () => {
  const { signal } = new AbortController();
  const judging = (models: ScriptedModels) =>
    new Judge(models, quota as never, systemTiming, { settings: { modelId: 'scripted' } }).judge(found, signal);
  const answering = new ScriptedModels(() => [text('{"holds": true, "reason": "It is 3."}')]);
  const failing = new ScriptedModels(() => {
    throw new ModelFailed('unavailable', 'The model is away.', true);
  });
  for (let judgement = 0; judgement < 10; judgement++) {
    expect(await judging(answering)).toMatchObject({ holds: true });
    expect(await judging(failing)).toMatchObject({ refusedBy: 'model' });
  }
  expect(tracesIn(signal)).toBe(0);
});
