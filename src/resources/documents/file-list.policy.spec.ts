import { expect, it } from '@jest/globals';
import { FileListBudget } from './file-list.policy.js';

const BYTES_MAX = 640 * 1024;
/** A file that takes this many bytes in the list, with the comma after it. */
const file = (bytes: number) => ({ name: 'x'.repeat(bytes - '{"name":""},'.length) });

it('a list takes files until its bytes are used', () => {
  const budget = new FileListBudget();
  expect(budget.take(file(BYTES_MAX - 100))).toBe(true);
  expect(budget.take(file(101))).toBe(false);
  // A file that had no room uses none.
  expect(budget.take(file(100))).toBe(true);
  expect(budget.take({})).toBe(false);
});

it('a list counts bytes, not characters', () => {
  expect(new FileListBudget().take(file(BYTES_MAX))).toBe(true);
  expect(new FileListBudget().take({ name: 'é'.repeat(BYTES_MAX / 2) })).toBe(false);
});

it('a list that begins with files has room for the rest', () => {
  const budget = new FileListBudget([file(BYTES_MAX - 200), file(100)]);
  expect(budget.take(file(101))).toBe(false);
  expect(budget.take(file(100))).toBe(true);
});
