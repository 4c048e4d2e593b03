import { describe, expect, it } from '@jest/globals';
import { change, pause, resume } from '../../src/triggers/schedules/schedule/schedule-changes.decider.js';
import { fatesIn, LedgerOracle, slotsIn } from './ledger-oracle.js';
import { every, HOUR_MS, MINUTE_MS, TwoProcesses } from './two-processes.js';

const START = Date.parse('2026-03-28T12:00:00Z');
const iso = (time: number) => new Date(time).toISOString();

const timings = {
  quarter: every('*/15 * * * *', 'Europe/Prague'),
  daily: every('30 2 * * *', 'Europe/Prague'),
};
const oracle = new LedgerOracle(START, START + 48 * HOUR_MS);

/** The days on which the clocks of a zone change, by the law of the zone. */
const CHANGES = [
  ['Europe/Prague', 'forward', '2026-03-29T01:00:00Z'],
  ['Europe/Prague', 'back', '2026-10-25T01:00:00Z'],
  ['America/Santiago', 'forward', '2026-09-06T04:00:00Z'],
  ['America/Santiago', 'back', '2026-04-05T03:00:00Z'],
  ['Australia/Lord_Howe', 'forward', '2026-10-03T15:30:00Z'],
  ['Australia/Lord_Howe', 'back', '2026-04-04T15:00:00Z'],
] as const;

describe.each(CHANGES)('in %s, when the clocks go %s', (timezone, _, at) => {
  const clocksChange = Date.parse(at);
  const ofZone = {
    quarter: every('*/15 * * * *', timezone),
    byTheClocks: every('30 */2 * * *', timezone),
    night: every('15,45 0,1,2,3,23 * * *', timezone),
    midnight: every('0 0 * * *', timezone),
  };
  const ids = Object.keys(ofZone) as (keyof typeof ofZone)[];
  const days = new LedgerOracle(clocksChange - 14 * HOUR_MS, clocksChange + 14 * HOUR_MS);

  it('two processes whose clocks are twenty minutes apart decide every slot once', async () => {
    const world = await TwoProcesses.with(ofZone, clocksChange - 13 * HOUR_MS);
    world.offsetsMs = [-10 * MINUTE_MS, 10 * MINUTE_MS];
    for (; world.now < clocksChange + 13 * HOUR_MS; world.now += 5 * MINUTE_MS) {
      for (const id of ids) await Promise.all([world.look(0, id), world.look(1, id)]);
    }
    // The fast clock makes every slot early, and the slow one repeats none.
    const last = iso(world.now + 5 * MINUTE_MS);
    world.now -= 5 * MINUTE_MS;
    for (const id of ids) {
      // Runs never end here, so a schedule pauses itself. The end of the pause records its slots.
      await world.ask(1, id, resume(world.asking(1)));
      const events = await world.eventsOf(id);
      expect(days.slotsStated(events)).toEqual(days.between(ofZone[id], iso(world.start), last));
      expect(fatesIn(events)).not.toContain('ScheduleMissed');
    }
  });

  it('slots of a day without a process are missed, and only the newest is run', async () => {
    const world = await TwoProcesses.with(ofZone, clocksChange - 12 * HOUR_MS);
    world.now += 24 * HOUR_MS;
    for (let looks = 0; looks < 4; looks++) for (const id of ids) await world.look(looks % 2, id);
    for (const id of ids) {
      const events = await world.eventsOf(id);
      const slots = days.between(ofZone[id], iso(world.start), iso(world.now));
      expect(slotsIn(events)).toEqual(slots);
      const hasJustCome = (slot: string) => world.now - Date.parse(slot) <= MINUTE_MS;
      expect(fatesIn(events)).toEqual(slots.map((slot) => (hasJustCome(slot) ? 'ScheduleRunQueued' : 'ScheduleMissed')));
    }
    expect(slotsIn(await world.eventsOf('quarter')).at(-1)).toBe(iso(world.now));
  });
});

it('records the slots of an outage as missed, even more than one append holds, and runs the next one', async () => {
  const world = await TwoProcesses.with(timings, START);
  const minutely = every('* * * * *', 'Europe/Prague');
  await world.ask(
    0,
    'quarter',
    change(world.asking(0), () => ({ timing: minutely })),
  );
  world.now = START + 24 * HOUR_MS;
  for (let looks = 0; looks < 10; looks++) for (const id of Object.keys(timings)) await world.look(looks % 2, id);
  const events = await world.eventsOf('quarter');
  expect(slotsIn(events)).toEqual(oracle.between(minutely, iso(START), iso(world.now)));
  const fates = fatesIn(events);
  expect(fates).toHaveLength(24 * 60);
  expect(new Set(fates.slice(0, -2))).toEqual(new Set(['ScheduleMissed']));
  // A slot of a minute ago may still be run, and its run is under way when the next slot is decided.
  expect(fates.slice(-2)).toEqual(['ScheduleRunQueued', 'ScheduleSlotSkipped']);
  expect(slotsIn(await world.eventsOf('daily'))).toEqual(oracle.between(timings.daily, iso(START), iso(world.now)));
});

it('records the slots of a pause of ninety days as one span without gaps', async () => {
  const timezones = ['Europe/Prague'];
  const minutely = Object.fromEntries(timezones.map((timezone) => [timezone, every('* * * * *', timezone)]));
  const world = await TwoProcesses.with(minutely, START);
  const look = async () => {
    for (const id of timezones) for (const process of [0, 1]) await world.look(process, id);
  };
  for (const id of timezones) await world.ask(0, id, pause(world.asking(0)));
  for (let day = 0; day < 90; day++) {
    world.now += 24 * HOUR_MS;
    await look();
  }
  world.now += 30_000;
  for (const id of timezones) await world.ask(1, id, resume(world.asking(1)));
  world.now += MINUTE_MS;
  await look();
  const days = new LedgerOracle(START, world.now);
  for (const id of timezones) {
    const events = await world.eventsOf(id);
    expect(fatesIn(events)).toEqual(['ScheduleSlotsPaused', 'ScheduleRunQueued']);
    const stated = days.slotsStated(events);
    expect(stated).toEqual(days.between(minutely[id]!, iso(START), iso(world.now)));
    expect(stated).toHaveLength(90 * 24 * 60 + 1);
  }
});

it('records a slot as missed only when no process can still start it', async () => {
  const world = await TwoProcesses.with(timings, START);
  const slot = Date.parse('2026-03-28T12:15:00Z');
  const after = async (minutes: number) => {
    world.now = slot + minutes * MINUTE_MS;
    await world.look(0, 'quarter');
    return fatesIn(await world.eventsOf('quarter'));
  };
  expect([await after(2), await after(9.9), await after(10)]).toEqual([[], [], ['ScheduleMissed']]);
});

it('does not give up a run that was started by a clock twenty minutes slow until it takes too long', async () => {
  const world = await TwoProcesses.with({ daily: every('15 13 * * *', 'Europe/Prague') }, START);
  world.offsetsMs = [-10 * MINUTE_MS, 10 * MINUTE_MS];
  world.now = Date.parse('2026-03-28T12:25:00Z');
  await world.look(0, 'daily');
  await world.look(1, 'daily');
  expect((await world.stateOf('daily')).openRun).toMatchObject({ isSlot: true });
  world.now += HOUR_MS;
  await world.look(1, 'daily');
  expect(await world.stateOf('daily')).toMatchObject({ openRun: null, failuresInARow: 1 });
});
