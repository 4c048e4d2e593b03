import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { expect } from '@jest/globals';
import type { RunEvent } from '../../src/background/runs/run.events.js';
import type { ScheduleEvent } from '../../src/triggers/schedules/schedule/schedule.events.js';
import { Days, type Fields } from '../oracles/recurrence-oracle.js';
import type { Backing } from '../support/backing.js';
import { Client } from '../support/client.js';
import { eventually } from '../support/eventually.js';
import { ServiceProcess } from '../support/process.js';
import { ScriptedModelServer, say } from '../support/scripted-model-server.js';
import { Seeded } from '../support/seeded.js';
import { TEST_SETTINGS } from '../support/service.js';

const MINUTE_MS = 60_000;
const LEAP_MS = 5 * MINUTE_MS;
/** The maximum error of the clock of either process. */
const SKEW_MS = 10 * MINUTE_MS;
/**
 * A slot that no process decides in time is missed after ten minutes, even by a clock that is ten minutes slow. After that no
 * slot is decided.
 */
const SETTLED_MS = 3 * SKEW_MS + 2 * MINUTE_MS;
/** Tickers run every second. Most leaps are seen by both processes, some by only one, or in the middle of its work. */
const LEAP_LASTS_MS = 800;
const LEAP_LASTS_MORE_MS = 700;
const ONE_IN_LEAPS_KILLS = 6;
const QUIET_MS_MAX = 60_000;
/** A task is tried four times, up to 25 s apart. Each time a lost wake-up may delay it by 30 s, and a busy machine by more. */
const OVER_MS_MAX = 240_000;

/** The times during which both processes run. They are down in between. In these nights the clocks of a zone change. */
const NIGHTS = [
  ['2026-03-29T00:35:00Z', '2026-03-29T01:20:00Z'],
  ['2026-04-04T14:35:00Z', '2026-04-04T15:20:00Z'],
  ['2026-04-05T02:35:00Z', '2026-04-05T03:20:00Z'],
] as const;

const ZONES = ['Europe/Prague', 'Australia/Lord_Howe', 'America/Santiago'] as const;
const RECURRENCES: readonly Fields[] = [
  ['*/5', '*', '*', '*', '*'],
  ['10,40', '*', '*', '*', '*'],
  ['15,45', '1,2,23', '*', '*', '*'],
];

type Looked = Readonly<{ id: string; timezone: string; fields: Fields }>;

const SETTINGS = {
  ...TEST_SETTINGS,
  TITLE_MODEL_ID: 'none',
  OPENAI_API_KEY: 'scripted',
  SCHEDULE_MIN_INTERVAL: '0',
  SCHEDULE_AUTOPAUSE_FAILURES: '0',
  // Time passes in leaps, so a run during a leap only seems to take long.
  SCHEDULE_RUN_TIMEOUT: '36000',
};

/** Two processes over one log, whose clocks are up to twenty minutes apart and are changed while they run. */
class Pair {
  private readonly random: Seeded;
  private readonly skews = [SKEW_MS, -SKEW_MS];
  private now = Date.parse(NIGHTS[0][0]);
  kills = 0;

  private constructor(
    seed: number,
    private readonly processes: readonly [ServiceProcess, ServiceProcess],
  ) {
    this.random = new Seeded(seed);
  }

  static async start(seed: number, environment: Readonly<Record<string, string>>): Promise<Pair> {
    const clockOffMs = Date.parse(NIGHTS[0][0]) - Date.now();
    const one = await ServiceProcess.start({ environment, standbys: 1, clockOffMs });
    try {
      return new Pair(seed, [one, await ServiceProcess.start({ environment, standbys: 1, clockOffMs })]);
    } catch (error) {
      await one.close();
      throw error;
    }
  }

  get output(): string {
    return this.processes.map(({ output }) => output).join('\n');
  }

  client(index: number): Client {
    return new Client(this.processes[index]!.url);
  }

  /** The latest time that either clock has shown. */
  get latest(): number {
    return this.now + SKEW_MS;
  }

  /** Sets both clocks. Sometimes the error of one of them changes. */
  setTime(now: number): void {
    this.now = now;
    for (const [index, process] of this.processes.entries()) {
      if (this.random.oneIn(4)) this.skews[index] = this.random.between(-1, 1) * SKEW_MS;
      process.setClock(now + this.skews[index]! - Date.now());
    }
  }

  async leapTo(until: number): Promise<void> {
    while (this.now + LEAP_MS <= until) {
      this.setTime(this.now + LEAP_MS);
      await pause(LEAP_LASTS_MS + this.random.next() * LEAP_LASTS_MORE_MS);
      if (this.random.oneIn(ONE_IN_LEAPS_KILLS)) await this.kill(this.random.between(0, 1));
    }
  }

  /** Kills a process at any moment and starts it again. */
  private async kill(index: number): Promise<void> {
    await this.processes[index]!.kill();
    await this.processes[index]!.start();
    this.kills++;
  }

  /** Both processes are down until then. */
  async outage(until: number): Promise<void> {
    await Promise.all(this.processes.map((process) => process.kill()));
    this.setTime(until);
    await Promise.all(this.processes.map((process) => process.start()));
    this.kills += this.processes.length;
  }

  async close(): Promise<void> {
    await Promise.all(this.processes.map((process) => process.close()));
  }
}

/** The events of a category, read from the log without the service's code. */
async function told<E>({ store }: Backing, category: string): Promise<readonly E[]> {
  const all: E[] = [];
  for await (const { events } of store.readAll({ after: -1n, filter: { categories: [category] } })) {
    all.push(...events.map(({ type, data }) => ({ type, data: JSON.parse(data) as unknown }) as E));
  }
  return all;
}

async function created(client: Client): Promise<readonly Looked[]> {
  const agent = { name: 'Watch', description: 'Watches', chunks: 4, retriever: 'classic', prompt_id: 'default' };
  const made = await client.post('/api/create_agent', { ...agent, status: 'published' });
  const { id: agentId } = (await made.json()) as { id: string };
  const looked: Looked[] = [];
  for (const timezone of ZONES) {
    for (const fields of RECURRENCES) {
      const body = { instruction: 'Look.', cron: fields.join(' '), timezone };
      const reply = await client.post(`/api/agents/${agentId}/schedules`, body);
      const { schedule } = (await reply.json()) as { schedule: { id: string } };
      looked.push({ id: schedule.id, timezone, fields });
    }
  }
  return looked;
}

const SLOT_FATES = new Set(['ScheduleRunQueued', 'ScheduleMissed', 'ScheduleSlotSkipped', 'ScheduleSlotPaused']);
type Fate = Extract<ScheduleEvent, { data: { slot: string } }>;

/** Whether each schedule's next slot is after the time, and no run is under way. */
function isSettled(events: readonly ScheduleEvent[], latest: number): boolean {
  const next = new Map<string, string | null>();
  const open = new Set<string>();
  for (const { type, data } of events) {
    if ('nextSlotAt' in data) next.set(data.scheduleId, data.nextSlotAt);
    if (type === 'ScheduleRunQueued') open.add(data.runId);
    if (type === 'ScheduleRunEnded') open.delete(data.runId);
  }
  return open.size === 0 && [...next.values()].every((slot) => slot !== null && Date.parse(slot) > latest);
}

/**
 * Whether all runs have ended. A run that its schedule has given up is ended by the process that runs it, which may happen later.
 */
function areOver(runs: readonly RunEvent[]): boolean {
  const open = new Set<string>();
  for (const { type, data } of runs) {
    if (type === 'RunQueued') open.add(data.runId);
    if (type === 'RunFinished' || type === 'RunFailed') open.delete(data.runId);
  }
  return open.size === 0;
}

/** Expects every slot up to a time exactly once among the schedule's decisions, in order. */
function expectEverySlotOnce(events: readonly ScheduleEvent[], { id, timezone, fields }: Looked, until: number): void {
  const own = events.filter(({ data }) => data.scheduleId === id);
  const { createdAt } = own[0]!.data as { createdAt: string };
  const fates = own.filter(({ type }) => SLOT_FATES.has(type)) as Fate[];
  const from = Math.floor(Date.parse(createdAt) / MINUTE_MS) * MINUTE_MS;
  const due = new Days(timezone, from, until).slots(fields).filter((slot) => slot > createdAt);
  const decided = fates.map(({ data }) => data.slot).filter((slot) => Date.parse(slot) <= until);
  expect(decided).toEqual(due);
}

/** Expects every run of the schedules to have run once, whatever was killed during it, and to have ended. */
function expectEveryRunOnce(schedules: readonly ScheduleEvent[], runs: readonly RunEvent[]): void {
  const idsOf = (events: readonly (ScheduleEvent | RunEvent)[], type: string) =>
    events.filter((event) => event.type === type).map(({ data }) => (data as { runId: string }).runId);
  const queued = idsOf(schedules, 'ScheduleRunQueued').toSorted();
  expect(new Set(queued).size).toBe(queued.length);
  expect(idsOf(schedules, 'ScheduleRunEnded').toSorted()).toEqual(queued);
  // A run that was given up before a process had queued it is not started any more.
  const begun = idsOf(runs, 'RunQueued').toSorted();
  expect(new Set(begun).size).toBe(begun.length);
  expect(queued).toEqual(expect.arrayContaining(begun));
  // A run that was under way when both processes were down for days has timed out.
  const late = runs
    .filter((event) => event.type === 'RunFailed' && event.data.reason === 'timeout')
    .map(({ data }) => data.runId);
  expect([...idsOf(runs, 'RunFinished'), ...late].toSorted()).toEqual(begun);
}

/**
 * Two processes with different clocks decide the slots of the same schedules and are killed during that: each slot is decided
 * once.
 */
export async function schedulesFaultStory(backing: Backing, seed: number, nightsMax: number = NIGHTS.length): Promise<void> {
  const model = await ScriptedModelServer.start();
  model.always(say('Quiet.'));
  const dataDir = await mkdtemp(join(tmpdir(), 'verbatim-schedules-'));
  const environment = { ...SETTINGS, ...backing.environment, OPENAI_BASE_URL: model.url, DATA_DIR: dataDir };
  let pair: Pair | undefined;
  try {
    pair = await Pair.start(seed, environment);
    const looked = await created(pair.client(1));
    const nights = NIGHTS.slice(0, nightsMax);
    for (const [night, [from, until]] of nights.entries()) {
      if (night > 0) await pair.outage(Date.parse(from));
      await pair.leapTo(Date.parse(until));
    }
    const { latest } = pair;
    pair.setTime(latest + SETTLED_MS);
    await eventually(async () => isSettled(await told(backing, 'schedule'), latest), QUIET_MS_MAX, 'every slot is decided on');
    await eventually(async () => areOver(await told(backing, 'run')), OVER_MS_MAX, 'every run is over');
    await pair.close();
    const events = await told<ScheduleEvent>(backing, 'schedule');
    for (const each of looked) expectEverySlotOnce(events, each, latest);
    expectEveryRunOnce(events, await told<RunEvent>(backing, 'run'));
    const count = (type: string) => events.filter((event) => event.type === type).length;
    // Both processes ran for most of the nights, and neither for the days in between.
    expect(count('ScheduleRunQueued')).toBeGreaterThan(looked.length);
    expect(count('ScheduleMissed')).toBeGreaterThan(count('ScheduleRunQueued'));
    process.stdout.write(
      `${count('ScheduleRunQueued')} slots run, ${count('ScheduleMissed')} missed, ${count('ScheduleSlotSkipped')} skipped over ${pair.kills} kills\n`,
    );
  } catch (error) {
    throw new Error(`Seed ${seed}: ${String(error)}\n${pair?.output}`, { cause: error });
  } finally {
    await pair?.close();
    await model.close();
    await backing.close();
    await rm(dataDir, { recursive: true, force: true });
  }
}
