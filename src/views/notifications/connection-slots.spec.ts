import { beforeEach, expect, it } from '@jest/globals';
import { userEventsOptions } from '../../../test/support/user-events.js';
import { KeyValueUnavailable } from '../../kernel/messaging/key-value.js';
import type { Timing } from '../../kernel/timing.js';
import { InProcessKeyValue } from '../../platform/messaging/key-value/in-process-key-value.js';
import { systemIds } from '../../platform/system-ids.js';
import { systemTiming } from '../../platform/system-timing.js';
import { ConnectionSlots } from './connection-slots.js';

const LEASE_MS = 900;
const DAY_MS = 24 * 60 * 60 * 1_000;

let now: number;
let keyValue: InProcessKeyValue;

beforeEach(() => {
  now = 0;
  keyValue = new InProcessKeyValue(() => now);
});

/** A process whose heartbeat the test triggers. */
function process() {
  const beats = new Set<() => void>();
  const every = (_: number, work: () => void) => (beats.add(work), () => void beats.delete(work));
  const options = userEventsOptions({ connectionsPerUserMax: 3, connectionLeaseMs: LEASE_MS });
  const slots = new ConnectionSlots(keyValue, { ...(systemTiming as Pick<Timing, keyof Timing>), every }, systemIds, options);
  const beat = async () => {
    for (const each of beats) each();
    await new Promise((resolve) => setImmediate(resolve));
  };
  return { slots, beats, beat };
}

async function pass(ms: number, ...alive: readonly Pick<ReturnType<typeof process>, 'beat'>[]): Promise<void> {
  for (const end = now + ms; now < end;) {
    now += Math.min(LEASE_MS / 3, end - now);
    for (const each of alive) await each.beat();
  }
}

it('limits the slots of a user in all processes, and reuses released ones', async () => {
  const [one, other] = [process(), process()];
  const all = await Promise.all(Array.from({ length: 10 }, (_, index) => (index % 2 ? one : other).slots.take('ann')));
  const releases = all.filter((release) => release !== undefined);
  expect(releases).toHaveLength(3);
  expect(await other.slots.take('bob')).toBeDefined();
  await releases[1]!();
  await releases[1]!();
  expect(await one.slots.take('ann')).toBeDefined();
  expect(await other.slots.take('ann')).toBeUndefined();
});

it('takes the slots of a crashed process, and none of a live one', async () => {
  const [dead, alive, late] = [process(), process(), process()];
  await dead.slots.take('ann');
  await dead.slots.take('ann');
  await alive.slots.take('ann');
  await pass(LEASE_MS / 2, alive);
  expect(await late.slots.take('ann')).toBeUndefined();
  await pass(LEASE_MS / 2, alive);
  expect(await late.slots.take('ann')).toBeDefined();
  expect(await late.slots.take('ann')).toBeDefined();
  expect(await late.slots.take('ann')).toBeUndefined();
  await pass(DAY_MS / 24, alive, late);
  expect(await process().slots.take('ann')).toBeUndefined();
});

it('does not release a slot that another process took while this one seemed crashed', async () => {
  const [still, late] = [process(), process()];
  const releases = [await still.slots.take('ann'), await still.slots.take('ann'), await still.slots.take('ann')];
  await pass(LEASE_MS);
  for (let slot = 0; slot < 3; slot++) expect(await late.slots.take('ann')).toBeDefined();
  await still.beat();
  for (const release of releases) await release!();
  expect(await still.slots.take('ann')).toBeUndefined();
});

it('releases slots after an outage of the store, and stops its heartbeat when it holds none', async () => {
  const one = process();
  const release = await one.slots.take('ann');
  const get = keyValue.get.bind(keyValue);
  keyValue.get = () => Promise.reject(new KeyValueUnavailable('away'));
  await release!();
  expect([keyValue.size, one.beats.size]).toEqual([2, 1]);
  keyValue.get = get;
  await one.beat();
  expect([keyValue.size, one.beats.size]).toEqual([1, 0]);
});

it('takes no slot before it has written that it is alive', async () => {
  const one = process();
  const put = keyValue.put.bind(keyValue);
  keyValue.put = () => Promise.reject(new KeyValueUnavailable('away'));
  await expect(one.slots.take('ann')).rejects.toThrow(KeyValueUnavailable);
  expect([keyValue.size, one.beats.size]).toEqual([0, 0]);
  keyValue.put = put;
  expect(await one.slots.take('ann')).toBeDefined();
  expect(keyValue.size).toBe(2);
});

it('gives back the slots whose claims the store has stored without an answer', async () => {
  const one = process();
  const create = keyValue.create.bind(keyValue);
  keyValue.create = async (...claim) => {
    if (await create(...claim)) throw new KeyValueUnavailable('late');
    return false;
  };
  for (let slot = 0; slot < 3; slot++) await expect(one.slots.take('ann')).rejects.toThrow(KeyValueUnavailable);
  keyValue.create = create;
  await one.beat();
  expect([keyValue.size, one.beats.size]).toEqual([1, 0]);
  for (let slot = 0; slot < 3; slot++) expect(await one.slots.take('ann')).toBeDefined();
});
