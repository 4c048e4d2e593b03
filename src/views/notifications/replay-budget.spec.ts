import { expect, it } from '@jest/globals';
import { userEventsOptions } from '../../../test/support/user-events.js';
import { InProcessKeyValue } from '../../platform/messaging/key-value/in-process-key-value.js';
import { ReplayBudget } from './replay-budget.js';

function budgetOf(replayRequestsPerWindowMax: number) {
  const time = { now: 1_000_000 };
  const options = userEventsOptions({ replayRequestsPerWindowMax, replayWindowMs: 60_000 });
  const budget = new ReplayBudget(new InProcessKeyValue(), { now: () => new Date(time.now) }, options);
  return { time, spend: (user = 'ann') => budget.spend(user) };
}

it('allows a number of replays in any window, and returns when the next one is allowed', async () => {
  const { time, spend } = budgetOf(3);
  for (const now of [0, 10_000, 20_000]) {
    time.now = 1_000_000 + now;
    expect(await spend()).toBeUndefined();
  }
  expect(await spend()).toBe(40);
  time.now = 1_059_500;
  expect(await spend()).toBe(1);
  time.now = 1_060_000;
  expect(await spend()).toBeUndefined();
  expect(await spend()).toBe(10);
});

it('still allows replays while the user keeps requesting', async () => {
  const { time, spend } = budgetOf(2);
  let given = 0;
  for (let second = 0; second < 600; second++) {
    time.now = 1_000_000 + second * 1_000;
    if ((await spend()) === undefined) given++;
  }
  expect(given).toBe(20);
});

it('counts concurrent requests, and each user separately', async () => {
  const { spend } = budgetOf(30);
  const answers = await Promise.all(Array.from({ length: 50 }, () => spend()));
  expect(answers.filter((answer) => answer === undefined)).toHaveLength(30);
  expect(await spend('bob')).toBeUndefined();
});

it('has no limit at 0', async () => {
  const { spend } = budgetOf(0);
  for (let count = 0; count < 100; count++) expect(await spend()).toBeUndefined();
});
