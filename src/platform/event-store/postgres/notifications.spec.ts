import { afterEach, beforeEach, expect, it, jest } from '@jest/globals';
import type { Sql } from 'postgres';
import { eventually } from '../../../../test/support/eventually.js';
import type { Pool } from '../../postgres/pool.js';
import { Notifications, SILENCE_MS_MAX } from './notifications.js';
import { WakeUps } from './wake-ups.js';

type Announcement = { by: string; here?: true };

let sent: Announcement[];
/** Delays the end of each statement until it resolves. */
let held: Promise<void> | undefined;
let hear: (payload: string) => void;
let wakeUps: WakeUps;
let notifications: Notifications;

const started = async (): Promise<void> => {
  [sent, held, wakeUps] = [[], undefined, new WakeUps()];
  const notify = async (_: unknown, _channel: string, payload: string) => {
    sent.push(JSON.parse(payload) as Announcement);
    await held;
  };
  const pool = { run: (work: (sql: Sql) => Promise<unknown>) => work(notify as unknown as Sql) };
  const listener = { listen: async (_: string, listen: typeof hear) => (hear = listen), end: async () => undefined };
  notifications = new Notifications(pool as unknown as Pool, listener as unknown as Sql, wakeUps, 3_600_000);
  await notifications.start();
};
beforeEach(started);

afterEach(() => notifications.close());

const hearOf = (announcement: Announcement): void => hear(JSON.stringify(announcement));
const announced = (): Announcement[] => sent.filter(({ here }) => !here);

it('announces nothing while no other process is there', async () => {
  notifications.announce();
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(announced()).toEqual([]);
});

it('announces appends together, and those during an announcement in the next one', async () => {
  hearOf({ by: 'another', here: true });
  let release = (): void => undefined;
  held = new Promise((resolve) => (release = resolve));
  for (let appends = 0; appends < 3; appends++) notifications.announce();
  await eventually(() => announced().length === 1);
  for (let appends = 0; appends < 3; appends++) notifications.announce();
  release();
  await eventually(() => announced().length === 2);
});

it('wakes the followers for appends of other processes only', async () => {
  const own = sent[0]!.by;
  const { wakeFlag } = wakeUps.join(0n, {});
  let isAwake = false;
  void wakeFlag.rings().then(() => (isAwake = true));
  const turn = () => new Promise((resolve) => setImmediate(resolve));
  hearOf({ by: own });
  hearOf({ by: 'another', here: true });
  await turn();
  expect(isAwake).toBe(false);
  hearOf({ by: 'another' });
  await turn();
  expect(isAwake).toBe(true);
});

it('shows itself twice before others think that it has gone, because one sign may be lost', async () => {
  await notifications.close();
  jest.useFakeTimers();
  try {
    await started();
    sent = [];
    await jest.advanceTimersByTimeAsync(SILENCE_MS_MAX);
    expect(sent.map(({ here }) => here)).toEqual([true, true]);
  } finally {
    jest.useRealTimers();
  }
});
