import { expect, it } from '@jest/globals';
import { Failures } from './failures.js';

const id = (key: string) => key;

it('things that failed less often come first, and otherwise in their order', () => {
  const failures = new Failures();
  for (const key of ['a', 'a', 'b']) failures.add(key);
  expect(failures.fewestFirst(['a', 'b', 'c', 'd'], id)).toEqual(['c', 'd', 'b', 'a']);
  expect(failures.size).toBe(2);
});

it('only things that still wait are remembered', () => {
  const failures = new Failures();
  for (const key of ['a', 'b']) failures.add(key);
  failures.look(['b', 'c']);
  expect(failures.size).toBe(1);
  expect(failures.fewestFirst(['b', 'a'], id)).toEqual(['a', 'b']);
});
