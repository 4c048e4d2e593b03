import { expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { ScheduleTiming } from '../../src/triggers/schedules/schedule/schedule.events.js';
import {
  cancel,
  change,
  pause,
  remove,
  requestRun,
  resume,
} from '../../src/triggers/schedules/schedule/schedule-changes.decider.js';
import { endRun, type RunEnding } from '../../src/triggers/schedules/schedule/slot-ledger.decider.js';
import { expectFitting, fatesIn, LedgerOracle } from './ledger-oracle.js';
import { every, HOUR_MS, MINUTE_MS, rules, TOKEN_BUDGET, TwoProcesses } from './two-processes.js';

/** The clocks of all three zones change within the first eight days. */
const START = Date.parse('2026-03-28T12:00:00Z');
const STEPS_MAX = 60;
const LONGEST_STEP_MS = 25 * HOUR_MS;
const CLOCK_MINUTES_OFF_MAX = 10;
const oracle = new LedgerOracle(START - HOUR_MS, START + STEPS_MAX * LONGEST_STEP_MS + 24 * HOUR_MS);

const ZONES = ['Europe/Prague', 'America/Santiago', 'Australia/Lord_Howe'] as const;
/** All are due at quarter hours. */
const CRONS = ['*/15 * * * *', '30 */2 * * *', '15,45 0,1,2,3,23 * * *', '0 0 * * *', '30 2 * * *'] as const;

const timings = {
  prague: every('*/15 * * * *', 'Europe/Prague'),
  santiago: every('0 * * * *', 'America/Santiago'),
  lordHowe: every('15,45 0,1,2,3,23 * * *', 'Australia/Lord_Howe'),
  ending: every('*/30 * * * *', 'Australia/Lord_Howe', '2026-04-04T15:00:00.000Z'),
  once: { kind: 'once', runAt: '2026-03-29T01:30:00.000Z', timezone: 'Europe/Prague' },
} as const satisfies Record<string, ScheduleTiming>;
type Name = keyof typeof timings;
const names = Object.keys(timings) as Name[];

const ending = (status: RunEnding['status'], tokens = 0): RunEnding => ({
  status,
  errorType: status === 'success' ? null : 'internal',
  tokens,
});
const DEEDS = {
  'look together': 4,
  look: 8,
  pause: 2,
  resume: 2,
  'run ends': 3,
  'run fails': 3,
  'run is too dear': 3,
  'run now': 2,
  'other time': 2,
  'other name': 1,
  'an end': 1,
  'called off': 1,
  deleted: 1,
} as const;
type Deed = keyof typeof DEEDS;
const deeds = fc.oneof(...Object.entries(DEEDS).map(([deed, weight]) => ({ weight, arbitrary: fc.constant(deed as Deed) })));
const minutesOff = fc.integer({ min: -CLOCK_MINUTES_OFF_MAX, max: CLOCK_MINUTES_OFF_MAX }).map((minutes) => minutes * MINUTE_MS);

const step = fc.record({
  passesMs: fc.oneof(fc.integer({ min: 0, max: 20 * MINUTE_MS }), fc.constantFrom(0, MINUTE_MS, LONGEST_STEP_MS)),
  offsetsMs: fc.tuple(minutesOff, minutesOff),
  kill: fc.constantFrom(undefined, undefined, 'before' as const, 'after' as const),
  name: fc.constantFrom(...names),
  deed: deeds,
  process: fc.constantFrom(0, 1),
  cron: fc.constantFrom(...CRONS),
  timezone: fc.constantFrom(...ZONES),
  inMinutes: fc.integer({ min: 1, max: 300 }),
});
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

const at = (minutes: number, deed: Deed): Step => ({
  ...{ name: 'prague', process: 0, offsetsMs: [0, 0], kill: undefined, cron: CRONS[0], timezone: ZONES[0], inMinutes: 1 },
  passesMs: minutes * MINUTE_MS,
  deed,
});
/** Steps that give a slot every possible outcome, whatever follows. */
const EACH_FATE = [at(15, 'look'), at(30, 'look'), at(1, 'run ends'), at(1, 'pause'), at(60, 'resume'), at(90, 'look')];

async function take(world: TwoProcesses, { name, deed, process, cron, timezone, inMinutes }: Step): Promise<void> {
  const asking = world.asking(process);
  const { openRun, definition } = await world.stateOf(name);
  const later = new Date(asking.now.getTime() + inMinutes * MINUTE_MS).toISOString();
  const ask = (decide: Parameters<TwoProcesses['ask']>[2]) => world.ask(process, name, decide);
  const end = (how: RunEnding) => ask(endRun(openRun?.runId ?? '', how, rules, asking.now));
  const { timing } = definition;
  switch (deed) {
    case 'look':
      return world.look(process, name);
    case 'look together':
      return void (await Promise.all([world.look(0, name), world.look(1, name)]));
    case 'pause':
      return ask(pause(asking));
    case 'resume':
      return ask(resume(asking, (before) => (before.kind === 'once' ? { ...before, runAt: later } : undefined)));
    case 'run ends':
      return end(ending('success'));
    case 'run fails':
      return end(ending('failed'));
    case 'run is too dear':
      return end(ending('success', TOKEN_BUDGET + 1));
    case 'run now':
      return ask(requestRun(asking, `run-of-${asking.now.getTime()}`));
    case 'other time': {
      const other = timing.kind === 'once' ? { ...timing, runAt: later } : { ...timing, cron, timezone };
      return ask(change(asking, () => ({ timing: other })));
    }
    case 'other name':
      return ask(change(asking, () => ({ name: later })));
    case 'an end':
      return timing.kind === 'once' ? undefined : ask(change(asking, () => ({ timing: { ...timing, endAt: later } })));
    case 'called off':
      return ask(cancel(asking));
    case 'deleted':
      return ask(remove(asking));
  }
}

/** Sets both clocks right and ends runs. At twelve minutes past the hour no slot waits. */
async function settle(world: TwoProcesses): Promise<void> {
  world.store.killAt = undefined;
  world.offsetsMs = [0, 0];
  world.now = Math.ceil(world.now / HOUR_MS + 1) * HOUR_MS + 12 * MINUTE_MS;
  for (const name of names) {
    const { openRun } = await world.stateOf(name);
    await world.ask(0, name, endRun(openRun?.runId ?? '', ending('success'), rules, world.clock(0)));
    // Each call makes up to eight appends of two hundred slots.
    for (let looks = 0; looks < 8; looks++) await world.look(looks % 2, name);
  }
}

it('contain every slot once with a valid outcome, whatever the clocks, the owner, the budget and the machines do', async () => {
  const fates = new Set<string>();
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: STEPS_MAX, size: 'max' }), async (steps) => {
      const world = await TwoProcesses.with(timings, START);
      for (const each of [...EACH_FATE, ...steps]) {
        world.now += each.passesMs;
        world.offsetsMs = each.offsetsMs;
        world.store.killAt = each.kill;
        await take(world, each);
      }
      await settle(world);
      for (const name of names) {
        const events = await world.eventsOf(name);
        expect(oracle.slotsStated(events)).toEqual(oracle.slotsOf(events, new Date(world.now).toISOString()));
        expectFitting(events);
        for (const fate of fatesIn(events)) fates.add(fate);
      }
    }),
    { numRuns: 40 },
  );
  const each = ['ScheduleMissed', 'ScheduleRunQueued', 'ScheduleSlotSkipped', 'ScheduleSlotsPaused'];
  expect([...fates].sort()).toEqual(expect.arrayContaining(each));
});
