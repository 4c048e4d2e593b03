import { expect, it } from '@jest/globals';
import { Window } from './window.js';

it('passes an event only once all before it are done', () => {
  const window = new Window(10n);
  const [first, second, third] = [window.add(11n), window.add(12n), window.add(15n)];
  window.considered(20n);
  third();
  second();
  expect(window.position).toBe(10n);
  first();
  expect(window.position).toBe(20n);
  expect(window.size).toBe(0);
});
