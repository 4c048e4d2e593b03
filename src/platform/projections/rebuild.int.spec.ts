import { describe, expect, it, jest } from '@jest/globals';
import { accounts, append, moved, opened } from '../../../test/support/accounts.js';
import { eventually } from '../../../test/support/eventually.js';
import { InMemoryEventStore } from '../../../test/support/in-memory-event-store.js';
import { rebuildWorld } from '../../../test/support/rebuild-world.js';
import {
  LOG_DIFFERS,
  LOG_ENDS_EARLIER,
  LogDiffers,
  type LogFilter,
  type LogReading,
} from '../../kernel/event-sourcing/event-store.js';
import type { Timing } from '../../kernel/timing.js';
import { systemTiming } from '../system-timing.js';
import { RebuildCancelled, RebuildUnderWay } from './rebuild.js';

const world = rebuildWorld();
const { project, rebuild, reached, schemas, cents, openAccounts } = world;

/** A log that refuses to be read after a place between two of its events. */
class LogWithoutEventAt extends InMemoryEventStore {
  constructor(private readonly place: bigint) {
    super();
  }

  override async *readAll(reading: LogReading) {
    this.check(reading.after);
    yield* super.readAll(reading);
  }

  override async *followAll(after: bigint, filter: LogFilter, signal: AbortSignal) {
    this.check(after);
    yield* super.followAll(after, filter, signal);
  }

  private check(after: bigint): void {
    if (after === this.place) throw new LogDiffers();
  }
}

describe('a rebuild', () => {
  it('rebuilds the live rows from the log while the projector runs, and replaces them', async () => {
    await project();
    await reached(await openAccounts(20, 30));
    let more = Promise.resolve(0n);
    const outcome = await rebuild(accounts(), {
      onProgress: () => void (more = more.then(() => append(world.store, 'account-1', moved('1', 1)))),
    });
    expect(outcome).toMatchObject({ swapped: true, comparison: { difference: undefined }, parked: [] });
    expect(outcome.events).toBeGreaterThanOrEqual(620);
    await reached(await append(world.store, 'account-2', moved('2', 1000)));
    await reached(await more);
    expect(await schemas()).toEqual(['accounts']);
    const [row] = await world.sql<{ rows: number }[]>`select count(*)::integer as rows from accounts.movement`;
    expect((await cents()) - 999).toBe(row!.rows);
  });

  it.each([
    ['only those of texts', { ...accounts(), indexesLast: false }, ['account_by_words']],
    ['all of them', accounts(), ['account_by_words', 'movement_of_account']],
  ])('builds indexes last, %s, also when it was interrupted before', async (_, projection, last) => {
    const indexesIn = async (schema: string) =>
      (await world.sql<{ indexname: string }[]>`select indexname from pg_indexes where schemaname = ${schema} order by 1`).map(
        ({ indexname }) => indexname,
      );
    const projector = await project(projection);
    await reached(await openAccounts(2, 2));
    const whole = await indexesIn('accounts');
    expect(whole).toEqual(expect.arrayContaining(['movement_of_account', 'account_by_time', 'movement_pkey', 'held_by_entity']));
    const cancel = new AbortController();
    await expect(rebuild(projection, { signal: cancel.signal, onProgress: () => cancel.abort() })).rejects.toThrow(
      RebuildCancelled,
    );
    expect(await indexesIn('accounts_rebuilt')).toEqual(whole.filter((each) => !last.includes(each)));
    expect((await rebuild(projection)).resumedAt).toBeDefined();
    expect(await indexesIn('accounts')).toEqual(whole);
    await projector.stop();
    expect(await schemas()).toEqual(['accounts']);
  });

  it('does not disturb readers', async () => {
    await project();
    await reached(await openAccounts(5, 20));
    let reading = true;
    let reads = 0;
    const readers = Array.from({ length: 4 }, async () => {
      while (reading) {
        const rows = await world.sql`select account, sum(movement.cents) from accounts.account join accounts.movement using (account) group by 1`; // oxfmt-ignore
        expect(rows).toHaveLength(5);
        reads++;
      }
    });
    for (let n = 0; n < 5; n++) await rebuild();
    reading = false;
    await Promise.all(readers);
    expect(reads).toBeGreaterThan(10);
  });

  it('is complete although a backup still reads the replaced rows, which the next one drops', async () => {
    await project();
    await reached(await openAccounts(2, 1));
    const pause: Timing['pause'] = (_, signal) => systemTiming.pause(20, signal);
    const hurried = Object.assign(Object.create(systemTiming) as Timing, { pause });
    const backup = await world.sql.reserve();
    await backup`begin`;
    await backup`select from accounts.account`;
    expect(await rebuild(accounts(), { timing: hurried })).toMatchObject({ swapped: true });
    expect(await schemas()).toEqual(['accounts', 'accounts_retired']);
    await backup`rollback`;
    backup.release();
    expect(await rebuild()).toMatchObject({ swapped: true });
    expect(await schemas()).toEqual(['accounts']);
  });

  it('can be cancelled in a part of the log that has no events for it', async () => {
    await openAccounts(1, 200);
    const cancel = new AbortController();
    let pages = 0;
    jest.spyOn(world.store, 'readAll').mockImplementation(async function* ({ after }) {
      for (let page = 1n; page <= 100n; page++) {
        if (++pages === 3) cancel.abort();
        yield { events: [], position: after + page, caughtUp: false };
      }
    });
    await expect(rebuild(accounts(), { signal: cancel.signal })).rejects.toThrow(RebuildCancelled);
    expect(pages).toBe(3);
  });

  it('can be cancelled and continues from there', async () => {
    await project();
    await reached(await openAccounts(10, 230));
    const cancel = new AbortController();
    const onProgress = ({ events }: { events: number }) => {
      if (events >= 2_000) cancel.abort();
    };
    await expect(rebuild(accounts(), { signal: cancel.signal, onProgress })).rejects.toThrow(RebuildCancelled);
    expect(await schemas()).toEqual(['accounts', 'accounts_rebuilt']);
    const outcome = await rebuild();
    expect(outcome.resumedAt).toBeGreaterThan(0n);
    expect(outcome.events).toBeLessThan(2_000);
    expect(outcome.comparison!.difference).toBeUndefined();
  });

  it('replaces rows of another version while the projector waits for it', async () => {
    const old = await project();
    await reached(await openAccounts(3, 2));
    await old.stop();
    const changed = accounts('accounts', { version: 2 });
    const projector = await project(changed);
    await eventually(() => projector.failureOf('accounts') !== undefined);
    expect(await rebuild(changed)).toMatchObject({ swapped: true, comparison: undefined });
    expect(await cents()).toBe(12);
    await append(world.store, 'account-1', moved('1', 1));
    await eventually(async () => (await cents()) === 14);
  });

  it('brings rows to the end of a log that was restored from an older backup, and the projector follows later events', async () => {
    const before = await project();
    await reached(await openAccounts(3, 5));
    await before.stop();
    world.store = new InMemoryEventStore();
    await append(world.store, 'account-1', opened('1'), moved('1', 4));
    const projector = await project();
    await eventually(() => projector.failureOf('accounts') === LOG_ENDS_EARLIER);
    await append(world.store, 'account-1', moved('1', 2));
    expect(await rebuild()).toMatchObject({ swapped: true, events: 3 });
    expect(await cents()).toBe(6);
    await append(world.store, 'account-1', moved('1', 1));
    await eventually(async () => (await cents()) === 7);
    expect(projector.failureOf('accounts')).toBeUndefined();
  });

  it('brings rows to the end of a restored log that has grown past the place of the rows and has no event there', async () => {
    const before = await project();
    await reached(await openAccounts(3, 5));
    await before.stop();
    const lost = await world.store.head();
    world.store = new LogWithoutEventAt(lost);
    await append(world.store, 'account-1', opened('1'));
    while ((await world.store.head()) <= lost) await append(world.store, 'account-1', moved('1', 4));
    const projector = await project();
    await eventually(() => projector.failureOf('accounts') === LOG_DIFFERS);
    expect(await rebuild()).toMatchObject({ swapped: true, comparison: undefined });
    const expected = 4 * Number(await world.store.lastRevision('account-1'));
    expect(await cents()).toBe(expected);
    await append(world.store, 'account-1', moved('1', 1));
    await eventually(async () => (await cents()) === expected + 1);
    expect(projector.failureOf('accounts')).toBeUndefined();
  });

  it('starts again when an interrupted rebuild had read more than a restored log holds', async () => {
    const before = await project();
    await reached(await openAccounts(3, 5));
    await before.stop();
    const cancel = new AbortController();
    const cancelled = rebuild(accounts(), { signal: cancel.signal, onProgress: () => cancel.abort() });
    await expect(cancelled).rejects.toThrow(RebuildCancelled);
    world.store = new InMemoryEventStore();
    await append(world.store, 'account-1', opened('1'), moved('1', 4));
    expect(await rebuild()).toMatchObject({ swapped: true, resumedAt: undefined, events: 2 });
    expect(await cents()).toBe(4);
  });

  it('gives the live projector the entities that it has parked', async () => {
    await project();
    await reached(await openAccounts(2, 2));
    const { on, ...same } = accounts();
    const refuses = () => {
      throw new Error('Refused.');
    };
    expect(await rebuild({ ...same, on: { ...on, MoneyMoved: refuses } })).toMatchObject({ swapped: true });
    await append(world.store, 'account-1', moved('1', 5));
    await reached(await append(world.store, 'account-2', opened('2')));
    const held = await world.sql`select entity, count(*)::integer as events from accounts.held group by 1 order by 1`;
    expect(held).toMatchObject([
      { entity: 'account-0', events: 2 },
      { entity: 'account-1', events: 3 },
    ]);
    expect(await cents()).toBe(0);
  });

  it('creates missing rows and parks entities that cannot be applied', async () => {
    await append(world.store, 'account-a', opened('a'), moved('a', 5), moved('a', -50));
    await append(world.store, 'account-b', opened('b'), moved('b', 3));
    expect(await rebuild()).toMatchObject({ swapped: true, comparison: undefined, parked: [{ entity: 'account-a', held: 1 }] });
    expect(await cents()).toBe(8);
  });

  it('replaces nothing when another rebuild has begun since this one lost its leadership', async () => {
    const projector = await project();
    await reached(await openAccounts(3, 2));
    await projector.stop();
    let isSwapping = false;
    let rebuilding: Promise<unknown> | undefined;
    await world.sql.begin(async (tx) => {
      await tx`lock table accounts.checkpoint in exclusive mode`;
      const onProgress = ({ phase }: { phase: string }) => void (isSwapping ||= phase === 'swapping');
      rebuilding = rebuild(accounts('accounts', { version: 2 }), { onProgress });
      rebuilding.catch(() => undefined);
      await eventually(() => isSwapping);
      await world.sql`update accounts_rebuilt.checkpoint set epoch = epoch + 1`;
    });
    await expect(rebuilding).rejects.toThrow(RebuildUnderWay);
    expect([await schemas(), await cents()]).toEqual([['accounts', 'accounts_rebuilt'], 6]);
  });

  it('is refused while another rebuild is running', async () => {
    await openAccounts(2, 10);
    const results = await Promise.allSettled([rebuild(), rebuild()]);
    const refused = results.filter((result) => result.status === 'rejected');
    expect(refused).toHaveLength(1);
    expect(refused[0]!.reason).toBeInstanceOf(RebuildUnderWay);
  });
});
