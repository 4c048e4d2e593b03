import { expect, it } from '@jest/globals';
import { WakeFlag } from '../wake-flag.js';
import { WakeUps } from './wake-ups.js';

const hasRung = async (wakeFlag: WakeFlag): Promise<boolean> => {
  let rung = false;
  void wakeFlag.rings().then(() => (rung = true));
  await new Promise((resolve) => setImmediate(resolve));
  return rung;
};

it('does not miss a ring between the check and the wait', async () => {
  const wakeFlag = new WakeFlag();
  wakeFlag.mute();
  wakeFlag.ring();
  expect(await hasRung(wakeFlag)).toBe(true);
});

it('does not ring after it was muted', async () => {
  const wakeFlag = new WakeFlag();
  wakeFlag.ring();
  wakeFlag.mute();
  expect(await hasRung(wakeFlag)).toBe(false);
});

it('waits at most for the given time', async () => {
  await new WakeFlag().rings(1);
});

it('rings for frames only the followers that want them', async () => {
  const wakeUps = new WakeUps();
  const followers = [{}, { exceptCategories: ['message'] }, { categories: ['agent'] }].map((filter) => wakeUps.join(-1n, filter));
  const rung = () => Promise.all(followers.map(({ wakeFlag }) => hasRung(wakeFlag)));
  wakeUps.ringForFrames();
  expect(await rung()).toEqual([true, false, false]);
  wakeUps.ringAll();
  expect(await rung()).toEqual([true, true, true]);
});

it('rings only the followers that are behind', async () => {
  const wakeUps = new WakeUps();
  const followers = [wakeUps.join(8n, {}), wakeUps.join(9n, {})];
  wakeUps.compare(9n);
  expect(await Promise.all(followers.map(({ wakeFlag }) => hasRung(wakeFlag)))).toEqual([true, false]);
});

it('forgets followers that have left', () => {
  const wakeUps = new WakeUps();
  const followers = [wakeUps.join(-1n, {}), wakeUps.join(-1n, {})];
  wakeUps.leave(followers[0]!);
  expect(wakeUps.size).toBe(1);
  wakeUps.leave(followers[1]!);
  expect(wakeUps.size).toBe(0);
});
