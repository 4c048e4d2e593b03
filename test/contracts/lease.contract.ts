import { afterAll, afterEach, beforeAll, expect, it } from '@jest/globals';
import { newId } from '../../src/kernel/ids.js';
import type { KeyValue } from '../../src/kernel/messaging/key-value.js';
import { holdLease, holdSlot, isHeld, type LeaseOptions } from '../../src/kernel/messaging/lease.js';
import { systemIds } from '../../src/platform/system-ids.js';
import { renewingEvery } from '../support/renewal-timing.js';

export type KeyValueForLeases = Readonly<{
  here: KeyValue;
  there: KeyValue;
  /** The duration of leases: longer than a test machine may stall, unless the clock stalls with it. */
  ttlMs: number;
  /** Lets time pass. */
  pass: (ms: number) => Promise<void>;
  close: () => Promise<void>;
}>;

/** Many renewals in the duration of a lease, also on a slow test machine. */
const RENEW_MS = 50;
const LOOKS = 12;

const holderOf = async (keyValue: KeyValue, key: string): Promise<string | undefined> => {
  const entry = await keyValue.get(key);
  return entry && (JSON.parse(entry.value) as { holder: string }).holder;
};

export function leaseContract(setUp: () => Promise<KeyValueForLeases>): void {
  let state: KeyValueForLeases;
  let here: KeyValue;
  let there: KeyValue;
  let test = new AbortController();
  beforeAll(async () => {
    state = await setUp();
    ({ here, there } = state);
  });
  afterEach(() => {
    test.abort();
    test = new AbortController();
  });
  afterAll(() => state.close());

  const eventually = async (isSo: () => boolean | Promise<boolean>): Promise<void> => {
    while (!(await isSo())) await state.pass(10);
  };
  const as = (holder: string, more: Partial<LeaseOptions> = {}): LeaseOptions => ({
    ttlMs: state.ttlMs,
    holder,
    timing: renewingEvery(RENEW_MS),
    ids: systemIds,
    signal: test.signal,
    ...more,
  });
  /** A holder that has crashed: it does not renew. */
  const dead = (holder: string): LeaseOptions => as(holder, { timing: renewingEvery(60_000) });

  it('is held by one holder at a time, whom every process can read', async () => {
    const key = newId();
    expect(await holderOf(there, key)).toBeUndefined();
    expect(await holdLease(here, key, as('one'))).toBeDefined();
    expect(await holdLease(there, key, as('two'))).toBeUndefined();
    expect(await holdLease(here, key, as('one'))).toBeUndefined();
    expect(await isHeld(there, key)).toBe(true);
    expect(await holderOf(there, key)).toBe('one');
  });

  it('is given to exactly one of many concurrent callers', async () => {
    const key = newId();
    const leases = await Promise.all(Array.from({ length: 20 }, (_, n) => holdLease(n % 2 ? here : there, key, as(`${n}`))));
    expect(leases.filter(Boolean)).toHaveLength(1);
  });

  it('lasts as long as it is renewed', async () => {
    const key = newId();
    const lease = (await holdLease(here, key, as('one')))!;
    for (let look = 0; look < LOOKS; look++) {
      await state.pass((1.5 * state.ttlMs) / LOOKS);
      expect(await isHeld(there, key)).toBe(true);
    }
    expect(lease.lost.aborted).toBe(false);
  });

  it('is free at once when it is released, and a second release does nothing', async () => {
    const key = newId();
    const first = (await holdLease(here, key, as('one')))!;
    await first.release();
    expect(await isHeld(there, key)).toBe(false);
    const second = (await holdLease(there, key, as('two')))!;
    await first.release();
    expect(await holderOf(here, key)).toBe('two');
    expect([first.lost.aborted, second.lost.aborted]).toEqual([false, false]);
  });

  it('is released when its signal aborts, even if that was before the claim', async () => {
    const key = newId();
    const own = new AbortController();
    await holdLease(here, key, as('one', { signal: own.signal }));
    own.abort();
    await eventually(async () => !(await isHeld(there, key)));
    await holdLease(here, key, as('one', { signal: own.signal }));
    await eventually(async () => !(await isHeld(there, key)));
  });

  it('expires when its holder stops renewing, which notifies the holder and lets another take over', async () => {
    const key = newId();
    const lease = (await holdLease(here, key, dead('one')))!;
    await eventually(() => lease.lost.aborted);
    await eventually(async () => (await holdLease(there, key, as('two'))) !== undefined);
    expect(await holderOf(here, key)).toBe('two');
    await lease.release();
    expect(await holderOf(here, key)).toBe('two');
  });

  it('is lost when another process has overwritten its key', async () => {
    const key = newId();
    const lease = (await holdLease(here, key, as('one')))!;
    await there.put(key, JSON.stringify({ holder: 'usurper', claim: '' }));
    await eventually(() => lease.lost.aborted);
    expect(await holderOf(here, key)).toBe('usurper');
  });

  it('is held by at most the given number of holders if there are slots', async () => {
    const prefix = `connections.${newId()}`;
    const many = await Promise.all(Array.from({ length: 10 }, (_, n) => holdSlot(n % 2 ? here : there, prefix, 3, as(`${n}`))));
    const held = many.filter((lease) => lease !== undefined);
    expect(held).toHaveLength(3);
    expect(await holdSlot(here, prefix, 3, as('late'))).toBeUndefined();
    await held[1]!.release();
    expect(await holdSlot(there, prefix, 3, as('later'))).toBeDefined();
    expect(await holdSlot(here, `${prefix}.other`, 3, as('elsewhere'))).toBeDefined();
  });
}
