import { expect, it } from '@jest/globals';
import { samplingOf } from './llm-params.policy.js';

it('reads sampling parameters with the names of OpenAI’s API', () => {
  const given = {
    temperature: 0.2,
    top_p: 1,
    frequency_penalty: -2,
    presence_penalty: 0,
    max_tokens: 5,
    seed: 7,
    stop: ['a', 'b'],
  };
  expect(samplingOf(given)).toEqual({
    temperature: 0.2,
    topP: 1,
    frequencyPenalty: -2,
    presencePenalty: 0,
    maxTokens: 5,
    seed: 7,
    stop: ['a', 'b'],
  });
});

it.each([undefined, null, {}, { temperature: null }])('returns undefined for %j', (given) => {
  expect(samplingOf(given)).toBeUndefined();
});

it.each<[string, unknown]>([
  ['temperature', 2.1],
  ['temperature', '1'],
  ['top_p', -0.1],
  ['frequency_penalty', 3],
  ['max_tokens', 0],
  ['max_tokens', 1.5],
  ['seed', 'x'],
  ['stop', ''],
  ['stop', ['a', 'b', 'c', 'd', 'e']],
  ['stop', 'x'.repeat(257)],
  ['logit_bias', {}],
  ['constructor', 1],
])('refuses llm_params.%s as %j', (name, value) => {
  expect(() => samplingOf({ [name]: value })).toThrow(`llm_params.${name}`);
});
