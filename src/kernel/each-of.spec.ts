import { describe, expect, it } from '@jest/globals';
import { eachOf, collectFailures } from './each-of.js';

const odd = (number: number) => (number % 2 ? Promise.reject(new Error(`${number} is odd`)) : Promise.resolve());

describe('processing several items', () => {
  it('tries all items and then reports the failures', async () => {
    const tried: number[] = [];
    const work = (number: number) => odd((tried.push(number), number));
    await expect(eachOf([1, 2, 3, 4], work)).rejects.toThrow('2 of 4 failed, the first with: 1 is odd');
    expect(tried).toEqual([1, 2, 3, 4]);
    expect(await collectFailures([1, 2, 3], work)).toEqual([new Error('1 is odd'), new Error('3 is odd')]);
  });

  it('reports nothing if no item fails or there is no item', async () => {
    await eachOf([2, 4], odd);
    await eachOf([], odd);
  });

  it('processes the given number of items at a time', async () => {
    let [now, most] = [0, 0];
    const work = async () => {
      most = Math.max(most, ++now);
      await Promise.resolve();
      now--;
    };
    await eachOf([1, 2, 3, 4, 5], work, 2);
    expect(most).toBe(2);
    await eachOf([1, 2, 3], work, 1);
    expect(most).toBe(2);
  });
});
