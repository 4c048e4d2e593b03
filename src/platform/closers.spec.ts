import { expect, it } from '@jest/globals';
import { Closers } from './closers.js';

it('closes everything once in reverse order and then reports the failures', async () => {
  const closed: string[] = [];
  const closers = new Closers();
  for (const name of ['server', 'pool', 'store']) {
    const opened = await closers.opened(name, async (made) => {
      closed.push(made);
      if (made === 'pool') throw new Error('The pool is stuck.');
    });
    expect(opened).toBe(name);
  }
  await expect(closers.close()).rejects.toThrow('The pool is stuck.');
  expect(closed).toEqual(['store', 'pool', 'server']);
  await closers.close();
  expect(closed).toHaveLength(3);
});

it('keeps nothing that failed to open', async () => {
  const closers = new Closers();
  await expect(closers.opened(Promise.reject(new Error('No.')), () => Promise.resolve())).rejects.toThrow('No.');
  await closers.close();
});
