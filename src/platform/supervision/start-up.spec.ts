import { expect, it } from '@jest/globals';
import { VirtualTiming } from '../../../test/support/virtual-timing.js';
import { outagesUpTo, throughOutages } from './start-up.js';

const refused = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });

/** Counts how often a step runs that first fails with each of the errors. */
function failing(errors: readonly Error[]) {
  const left = [...errors];
  const step = {
    runs: 0,
    work: async () => {
      step.runs++;
      const error = left.shift();
      if (error) throw error;
      return 'done';
    },
  };
  return step;
}

it('a step of the start is repeated through outages, and fails with any other error', async () => {
  const [away, wrong] = [failing(Array<Error>(50).fill(refused)), failing([new Error('wrong password')])];
  expect(await throughOutages(new VirtualTiming(), away.work, () => undefined)).toBe('done');
  await expect(throughOutages(new VirtualTiming(), wrong.work, () => undefined)).rejects.toThrow('wrong password');
  expect([away.runs, wrong.runs]).toEqual([51, 1]);
});

it('with a limit, a step fails with the outage that reaches it', async () => {
  const away = failing(Array<Error>(50).fill(refused));
  await expect(throughOutages(new VirtualTiming(), away.work, () => undefined, outagesUpTo(20))).rejects.toBe(refused);
  expect(away.runs).toBe(20);
});
