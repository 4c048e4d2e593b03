import { describe, expect, it, jest } from '@jest/globals';
import { pino } from 'pino';
import { append } from '../../../test/support/accounts.js';
import { bellReactions, rang } from '../../../test/support/bell-reactions.js';
import { endLeaders } from '../../../test/support/end-leaders.js';
import { eventually } from '../../../test/support/eventually.js';
import { StoreUnavailable } from '../../kernel/event-sourcing/event-store.js';
import type { Timing } from '../../kernel/timing.js';
import { Leadership } from '../supervision/leadership.js';
import { systemTiming } from '../system-timing.js';
import { CHECKPOINT_EVERY_MS, WINDOW_EVENTS_MAX } from './reaction-runner.js';

const bells = bellReactions();

describe('a reaction', () => {
  it('asks for the types of events on which it acts', async () => {
    const follows = jest.spyOn(bells.store, 'followAll');
    await append(bells.store, 'bell-a', rang(1));
    bells.start();
    await eventually(() => bells.heard.length === 1);
    expect(follows.mock.calls.map(([, filter]) => filter)).toEqual([{ categories: ['bell'], types: ['BellRang'] }]);
  });

  it('is aborted when its process stops, and its successor acts on the event again', async () => {
    await append(bells.store, 'bell-a', rang(1));
    let waits = false;
    const first = bells.start(async (_, signal) => {
      waits = true;
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
      signal.throwIfAborted();
    });
    await eventually(() => waits);
    await first.stop();
    bells.start();
    await eventually(() => bells.heard.length > 0);
    expect(bells.heard).toEqual(['bell-a 1']);
  });

  it('acts on each of its events, in the order of each stream, and continues from its checkpoint after a restart', async () => {
    await append(bells.store, 'bell-a', rang(1), { type: 'BellPolished', data: {} }, rang(2));
    await append(bells.store, 'door-a', rang(9));
    const first = bells.start();
    const position = await append(bells.store, 'bell-b', rang(3));
    await eventually(() => bells.isCheckpointAt(position));
    expect(bells.heard.filter((entry) => entry.startsWith('bell-a'))).toEqual(['bell-a 1', 'bell-a 2']);
    await first.stop();

    bells.start();
    await append(bells.store, 'bell-a', rang(4));
    await eventually(() => bells.heard.includes('bell-a 4'));
    expect([...bells.heard].sort()).toEqual(['bell-a 1', 'bell-a 2', 'bell-a 4', 'bell-b 3']);
  });

  it('begins with the next event when it is declared so', async () => {
    await append(bells.store, 'bell-a', rang(1));
    bells.start(bells.listen, { declared: { begins: 'now' } });
    await eventually(async () => (await bells.sql`select 1 from reactions.reaction_checkpoint`).length === 1);
    await append(bells.store, 'bell-a', rang(2));
    await eventually(() => bells.heard.includes('bell-a 2'));
    expect(bells.heard).toEqual(['bell-a 2']);
  });

  it('saves its checkpoint once after an event, and does not look for changes again before the next one', async () => {
    const timers: number[] = [];
    const after: Timing['after'] = (ms, ...rest) => (timers.push(ms), systemTiming.after(ms, ...rest));
    bells.start(bells.listen, { timing: Object.assign(Object.create(systemTiming) as Timing, { after }) });
    const saves = () => timers.filter((ms) => ms === CHECKPOINT_EVERY_MS).length;
    for (const times of [1, 2]) {
      const position = await append(bells.store, 'bell-a', rang(times));
      await eventually(() => bells.isCheckpointAt(position));
      await systemTiming.pause(5 * CHECKPOINT_EVERY_MS);
      expect(saves()).toBe(times);
    }
  });

  it('acts again after a crash on unfinished events, but not on those before the checkpoint', async () => {
    let release!: () => void;
    const released = new Promise<void>((resolve) => (release = resolve));
    let stuck = 0;
    const first = bells.start(async (event) => {
      if (event.data.times === 2 && ++stuck === 1) await released;
      else await bells.listen(event);
    });
    const finished = await append(bells.store, 'bell-a', rang(1));
    await append(bells.store, 'bell-b', rang(2));
    await append(bells.store, 'bell-c', rang(3));
    await eventually(() => bells.heard.length === 2 && stuck === 1);
    await eventually(() => bells.isCheckpointAt(finished));

    // Another process takes over while the first is still acting.
    await endLeaders(bells.sql);
    bells.start();
    await eventually(() => bells.heard.filter((entry) => entry === 'bell-c 3').length === 2);
    expect([...bells.heard].sort()).toEqual(['bell-a 1', 'bell-b 2', 'bell-c 3', 'bell-c 3']);
    release();
    await first.stop();
  });

  it('runs in one process at a time', async () => {
    for (let n = 0; n < 3; n++) bells.start();
    for (let n = 0; n < 30; n++) await append(bells.store, `bell-${n}`, rang(n));
    await eventually(() => bells.heard.length >= 30);
    expect(new Set(bells.heard).size).toBe(30);
    expect(bells.heard).toHaveLength(30);
  });

  it('reports no failure of its own while another process runs it', async () => {
    let hasFailed = false;
    const warnings = pino({ level: 'warn' }, { write: () => void (hasFailed = true) });
    const reactions = bells.start(bells.listen, { log: warnings });
    await append(bells.store, 'bell-a', rang(1));
    await eventually(() => bells.heard.length === 1);
    const other = new Leadership(bells.sql, systemTiming);
    do await endLeaders(bells.sql);
    while (!(await other.tryGain('reaction:answer-door')));
    await eventually(() => hasFailed && reactions.failureOf('answer-door') === undefined);
    await other.close();
  });

  it('waits during an outage and parks nothing', async () => {
    let tries = 0;
    bells.start(async (event) => {
      if (++tries <= 6) throw new StoreUnavailable('away');
      await bells.listen(event);
    });
    await append(bells.store, 'bell-a', rang(1));
    await eventually(() => bells.heard.length === 1);
    expect(await bells.parkedEvents()).toEqual([]);
  });

  it('takes a bounded number of events past one that waits for a dependency', async () => {
    let isAway = true;
    bells.start(async (event) => {
      if (event.data.times === 13 && isAway) throw new StoreUnavailable('away');
      await bells.listen(event);
    });
    await append(bells.store, 'bell-a', rang(13));
    const later = Array.from({ length: WINDOW_EVENTS_MAX + 200 }, (_, n) => append(bells.store, `bell-${n}`, rang(n + 100)));
    await Promise.all(later);
    await eventually(() => bells.heard.length >= WINDOW_EVENTS_MAX - 1);
    await systemTiming.pause(300);
    expect(bells.heard).toHaveLength(WINDOW_EVENTS_MAX - 1);
    isAway = false;
    await eventually(() => bells.heard.length === later.length + 1);
  });
});
