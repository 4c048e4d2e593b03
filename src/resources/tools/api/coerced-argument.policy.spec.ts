import { expect, it } from '@jest/globals';
import { coerced } from './coerced-argument.policy.js';

it('a text becomes the array that it holds, unless that is nested too deep to be sent', () => {
  const nested = '['.repeat(20_000) + ']'.repeat(20_000);
  expect(coerced('[[1]]', { type: 'array' })).toEqual([[1]]);
  expect(coerced(nested, { type: 'array' }) === nested).toBe(true);
});
