import { expect, it } from '@jest/globals';
import { FAILED_MAX, Failures } from './failures.js';

const id = (key: string) => key;

it('things that have not failed are tried first in their order, then those whose last attempt is the oldest', () => {
  const failures = new Failures();
  for (const key of ['b', 'a', 'a', 'b']) failures.add(key);
  expect(failures.next(['b', 'a', 'c', 'd'], id, 4)).toEqual(['c', 'd', 'a', 'b']);
  expect(failures.next(['b', 'a', 'c', 'd'], id, 3)).toEqual(['c', 'd', 'a']);
});

it('an attempt that fails is remembered and throws, and one that succeeds is not', async () => {
  const failures = new Failures();
  await failures.attempt('a', () => Promise.resolve());
  await expect(failures.attempt('b', () => Promise.reject(new Error('Refused.')))).rejects.toThrow('Refused.');
  expect(failures.next(['b', 'a'], id, 2)).toEqual(['a', 'b']);
});

it('a page has room for those that failed, which are forgotten when they are no longer on it', () => {
  const failures = new Failures();
  for (const key of ['a', 'b']) failures.add(key);
  expect(failures.pageFor(5)).toBe(7);
  failures.retain(['b', 'c']);
  expect(failures.pageFor(5)).toBe(6);
  expect(failures.next(['b', 'a'], id, 2)).toEqual(['a', 'b']);
});

it('a page has room for at most 10,000 things that failed', () => {
  const failures = new Failures();
  for (let index = 0; index <= FAILED_MAX; index++) failures.add(`${index}`);
  expect(failures.pageFor(5)).toBe(10_005);
});
