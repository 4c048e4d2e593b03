import { beforeEach, describe, expect, it, jest } from '@jest/globals';
import { accounts, append, moved, opened, purged } from '../../../test/support/accounts.js';
import { InMemoryEventStore } from '../../../test/support/in-memory-event-store.js';
import { rebuildWorld } from '../../../test/support/rebuild-world.js';
import { eventAt, type LogReading } from '../../kernel/event-sourcing/event-store.js';
import type { Timing } from '../../kernel/timing.js';
import { systemTiming } from '../system-timing.js';
import { definitionOf } from './definition.js';
import { ProjectionWriter } from './projection-writer.js';
import { LATE_CHECK_MS, RebuildCancelled } from './rebuild.js';

const world = rebuildWorld();
const { project, rebuild, reached, schemas, cents, openAccounts } = world;

/** A log whose bounds have deleted the events that they hide. */
class ScavengedLog extends InMemoryEventStore {
  override async *readAll(reading: LogReading) {
    for await (const page of super.readAll(reading)) {
      const kept = await Promise.all(page.events.map(({ stream, revision }) => eventAt(this, stream, revision)));
      yield { ...page, events: page.events.filter((_, index) => kept[index]) };
    }
  }
}

describe('a rebuild', () => {
  it('repairs rows that differ from the log, and only names the first one when it verifies', async () => {
    await project();
    await reached(await openAccounts(3, 2));
    await world.sql`update accounts.account set cents = 77 where account = '1'`;
    await world.sql`delete from accounts.movement where account = '2'`;
    const verified = await rebuild(accounts(), { verifyOnly: true });
    expect(verified.comparison!.difference).toMatchObject({
      table: 'account',
      key: { account: '1' },
      live: { account: '1', cents: 77 },
      rebuilt: { account: '1', cents: 2 },
    });
    expect(await schemas()).toEqual(['accounts']);
    expect(await cents()).toBe(81);
    expect((await rebuild()).comparison!.difference).toBeDefined();
    expect(await cents()).toBe(6);
    expect((await rebuild(accounts(), { verifyOnly: true })).comparison!.difference).toBeUndefined();
  });

  it('builds no index when it only verifies, because nothing reads the rows by one', async () => {
    await project();
    await reached(await openAccounts(3, 2));
    const phases: string[] = [];
    await rebuild(accounts(), { verifyOnly: true, onProgress: ({ phase }) => void phases.push(phase) });
    expect([...new Set(phases)]).toEqual(['rebuilding', 'comparing']);
  });

  describe('of live rows that have not reached the purge of events that the log no longer has', () => {
    let end: bigint;
    beforeEach(async () => {
      world.store = new ScavengedLog();
      const projector = await project();
      await reached(await openAccounts(3, 2));
      await projector.stop();
      end = await append(world.store, 'account-1', purged('1'));
      await world.store.setRetention('account-1', { truncateBefore: 3 });
    });
    /** Verifies, and does something while it waits for the live rows. */
    const verify = (whileLate: () => Promise<unknown>, more: Partial<Timing> = {}) => {
      const pause: Timing['pause'] = async (ms, signal) =>
        void (await (ms === LATE_CHECK_MS ? whileLate() : systemTiming.pause(ms, signal)));
      const timing = Object.assign(Object.create(systemTiming) as Timing, { pause, ...more });
      return rebuild(accounts(), { verifyOnly: true, timing });
    };

    it('finds no difference once they have reached it', async () => {
      const { comparison } = await verify(async () => (world.running.length === 1 ? project() : systemTiming.pause(20)));
      expect(comparison).toMatchObject({ difference: undefined, live: [{ table: 'account', rows: 2 }, { rows: 4 }] });
    });

    it('finds a difference that stays', async () => {
      await world.sql`update accounts.account set cents = 77 where account = '2'`;
      const { comparison } = await verify(async () => (world.running.length === 1 ? project() : systemTiming.pause(20)));
      expect(comparison).toMatchObject({ position: end, difference: { key: { account: '2' } } });
      expect(comparison).not.toHaveProperty('lateFor');
    });

    it('replaces them without waiting for them', async () => {
      const pause = () => Promise.reject(new Error('It waits.'));
      const timing = Object.assign(Object.create(systemTiming) as Timing, { pause });
      expect(await rebuild(accounts(), { timing })).toMatchObject({
        swapped: true,
        comparison: { difference: { key: { account: '1' } } },
      });
    });

    it('says how far they have to go if they stay behind', async () => {
      let now = 0;
      const { comparison } = await verify(async () => (now += 1_000), { elapsedMs: () => now });
      expect(comparison).toMatchObject({ difference: { key: { account: '1' }, rebuilt: null }, lateFor: end });
    });
  });

  it.each([
    ['a verification that is cancelled', { verifyOnly: true }, undefined],
    ['a rebuild that fills the disk', {}, Object.assign(new Error('No space left on device'), { code: '53100' })],
  ])('leaves no rows behind: %s', async (_, options, fault) => {
    await project();
    await reached(await openAccounts(2, 2));
    const cancel = new AbortController();
    const onProgress = ({ events }: { events: number }) => {
      if (events === 0) return;
      if (fault) throw fault;
      cancel.abort();
    };
    await expect(rebuild(accounts(), { ...options, signal: cancel.signal, onProgress })).rejects.toThrow(
      fault ?? RebuildCancelled,
    );
    expect(await schemas()).toEqual(['accounts']);
  });

  it('leaves the rows alone if it fails after another process has taken them over', async () => {
    await project();
    await reached(await openAccounts(2, 2));
    const definition = await definitionOf(accounts());
    jest.spyOn(world.store, 'readAll').mockImplementation(async function* () {
      await ProjectionWriter.open(world.sql, definition, 'accounts_rebuilt');
      throw new Error('The connection is gone.');
    });
    await expect(rebuild(accounts(), { verifyOnly: true })).rejects.toThrow('The connection is gone.');
    expect(await schemas()).toEqual(['accounts', 'accounts_rebuilt']);
  });

  it('verifies from the start of the log, although an interrupted rebuild has read the events that have changed', async () => {
    const before = await project();
    await reached(await openAccounts(2, 2));
    await before.stop();
    const cancel = new AbortController();
    const onProgress = ({ events }: { events: number }) => (events > 0 ? cancel.abort() : undefined);
    await expect(rebuild(accounts(), { signal: cancel.signal, onProgress })).rejects.toThrow(RebuildCancelled);
    world.store = new InMemoryEventStore();
    await append(world.store, 'account-0', opened('0'), moved('0', 5), moved('0', 1));
    await append(world.store, 'account-1', opened('1'), moved('1', 1), moved('1', 1));
    const verified = await rebuild(accounts(), { verifyOnly: true });
    expect(verified).toMatchObject({
      resumedAt: undefined,
      comparison: { difference: { live: { cents: 2 }, rebuilt: { cents: 6 } } },
    });
  });
});
