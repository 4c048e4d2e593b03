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

it('rings for the followers of a stream and for those of the log', async () => {
  const wakeUps = new WakeUps();
  const [wanted, other, log] = [wakeUps.joinStream('a-1', -1), wakeUps.joinStream('a-2', -1), wakeUps.joinLog(-1n, {})];
  wakeUps.ring(['a-1', 'unheard-of']);
  expect(await Promise.all([wanted, other, log].map(({ wakeFlag }) => hasRung(wakeFlag)))).toEqual([true, false, true]);
});

it('rings for frames only the followers of the log that want them', async () => {
  const wakeUps = new WakeUps();
  const logs = [{}, { exceptCategories: ['message'] }, { categories: ['agent'] }].map((filter) => wakeUps.joinLog(-1n, filter));
  const rung = () => Promise.all(logs.map(({ wakeFlag }) => hasRung(wakeFlag)));
  wakeUps.ring(['message-1', 'message-2']);
  expect(await rung()).toEqual([true, false, false]);
  wakeUps.ring(['message-1', 'agent-1']);
  expect(await rung()).toEqual([true, true, true]);
});

it('rings only the followers that are behind', async () => {
  const wakeUps = new WakeUps();
  const streams = [wakeUps.joinStream('a-1', 3), wakeUps.joinStream('a-1', 4), wakeUps.joinStream('a-2', 0)];
  const logs = [wakeUps.joinLog(8n, {}), wakeUps.joinLog(9n, {})];
  wakeUps.compareStream('a-1', 4);
  wakeUps.compareLog(9n);
  expect(await Promise.all([...streams, ...logs].map(({ wakeFlag }) => hasRung(wakeFlag)))).toEqual([
    true,
    false,
    false,
    true,
    false,
  ]);
});

it('forgets followers that have left', () => {
  const wakeUps = new WakeUps();
  const followers = [wakeUps.joinStream('a-1', -1), wakeUps.joinStream('a-1', -1)];
  const log = wakeUps.joinLog(-1n, {});
  expect(wakeUps.followedStreams).toEqual(['a-1']);
  for (const follower of followers) wakeUps.leaveStream(follower);
  wakeUps.leaveLog(log);
  expect([wakeUps.followedStreams, wakeUps.size]).toEqual([[], 0]);
});
