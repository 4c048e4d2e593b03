import { StoreUnavailable } from '../../../src/kernel/event-store.js';
import { Logger } from '@nestjs/common';
import type { Seeded } from '../../support/seeded.js';
import { Actor } from '../kernel/actor.js';
import { Simulation } from '../kernel/simulation.js';
import { withoutMachine } from '../kernel/no-machine.js';
import { oracles } from '../oracles/oracles.js';
import { IN_FLIGHT_TIMEOUT_MS, LogServer } from '../ports/log-server.js';
import { Network } from '../ports/network.js';
import { SharedBlobs } from '../ports/shared-blobs.js';
import { SharedKeyValue } from '../ports/shared-key-value.js';
import { SharedWorkQueue } from '../ports/shared-work-queue.js';
import { SignalBus } from '../ports/signal-bus.js';
import { ReadModelServer } from '../read-models/read-model-server.js';
import { Asker } from './asker.js';
import type { Rooms } from './background-roles.js';
import { Coverage } from './coverage.js';
import { Deliverer } from './deliverer.js';
import { History } from './history.js';
import { noteWhatTheLogShows } from './log-coverage.js';
import { LogView } from './log-view.js';
import type { Mutant } from './mutant.js';
import { Outside } from './outside.js';
import { ScheduleOwner } from './schedule-owner.js';
import { ServiceProcess, type Surroundings } from './service-process.js';
import { Watcher } from './watcher.js';
import { AHEAD_MS_MAX, WrongClocks } from './wrong-clocks.js';

/** How long faults go on. */
const TROUBLE_MS = [800, 4_000] as const;
/** How long everything has to be brought to its end once nothing goes wrong any more. */
export const RECOVERY_MAX_MS = 90_000;
const LOOK_EVERY_MS = 250;
/** How many appends are answered for each whose answer is lost: in each run another. */
const LOST_ANSWERS_ONE_IN = [Infinity, 60, 15];

export type Result = Readonly<{
  seed: number;
  digest: string;
  steps: number;
  virtualMs: number;
  violations: readonly string[];
  coverage: Coverage;
  lines: readonly string[];
}>;

/** Everything there is in one run of the simulation, as its seed has it. */
export class World {
  readonly random: Seeded;
  readonly history = new History();
  readonly coverage = new Coverage();
  readonly simulation: Simulation;
  readonly network: Network;
  readonly log: LogServer;
  readonly outside: Outside;
  readonly rooms: Rooms;
  /** Whether the log is three nodes, whose leader changes. */
  private readonly isCluster: boolean;
  private readonly view: LogView;
  private readonly processes: readonly ServiceProcess[];
  readonly clocks: WrongClocks;
  private readonly outages: { fromMs: number; toMs: number }[] = [];

  constructor(seed: number, isTraced: boolean, mutant: Mutant | undefined) {
    this.simulation = new Simulation(seed, new Actor('world'), isTraced);
    const { simulation, coverage } = this;
    this.random = simulation.random('workload');
    const rooms = simulation.random('rooms');
    this.rooms = { schedules: rooms.oneIn(3), followUps: rooms.oneIn(3) };
    this.network = new Network(simulation);
    this.log = new LogServer(simulation);
    this.outside = new Outside(simulation, this.network, simulation.random('outside'), this.rooms.followUps);
    this.view = new LogView(this.log.store);
    const faults = simulation.random('faults');
    const around: Surroundings = {
      simulation,
      network: this.network,
      log: this.log,
      signals: new SignalBus(simulation, this.network),
      keyValue: new SharedKeyValue(simulation, this.network),
      queue: new SharedWorkQueue(simulation, this.network),
      readModels: new ReadModelServer(simulation, this.network, this.log),
      outside: this.outside,
      blobs: new SharedBlobs(this.network),
      checkpoints: new Map(),
      rooms: this.rooms,
      acknowledged: this.history.acknowledged,
      coverage,
      faults: {
        lostAnswerOneIn: LOST_ANSWERS_ONE_IN[faults.between(0, LOST_ANSWERS_ONE_IN.length - 1)]!,
        inFlightTimeoutMs: mutant?.inFlightTimeoutMs ?? IN_FLIGHT_TIMEOUT_MS,
      },
      mutant,
    };
    const cluster = simulation.random('cluster');
    this.isCluster = cluster.oneIn(2);
    const names = ['one', 'two', 'three'].slice(0, faults.between(2, 3));
    this.processes = names.map(
      (name) => new ServiceProcess(new Actor(name), around, faults.between(-20, 20), this.isCluster && cluster.oneIn(2)),
    );
    this.clocks = new WrongClocks(simulation, this.processes, coverage);
  }

  /** Of the jobs of a conversation, those that are not over. */
  async jobsUnderWay(conversationId: string): Promise<readonly string[]> {
    const jobs = (await this.view.refresh()).of('job').filter(([, facts]) => facts[0]!.data['conversationId'] === conversationId);
    const underWay = jobs.filter(([, facts]) => facts.every(({ type }) => type === 'JobStarted' || type === 'JobProgressed'));
    return underWay.map(([, facts]) => facts[0]!.data['jobId'] as string);
  }

  /** Resolves once the first slot of a schedule has come, and somebody has decided on it. */
  async slotOf(scheduleId: string): Promise<void> {
    const isDecided = async () => (await this.view.refresh()).byStream.get(`schedule-${scheduleId}`)!.length > 1;
    while (!(await isDecided())) await this.simulation.pause(LOOK_EVERY_MS, this.simulation.world, 'looks for a slot');
  }

  anyProcess(): ServiceProcess {
    return this.processes[this.random.between(0, this.processes.length - 1)]!;
  }

  noteUnavailable(what: string, fromMs: number, error: Error): void {
    this.coverage.note('a request was told 503');
    this.history.unavailable.push({ what, fromMs, toMs: this.simulation.nowMs, error: `${error.name}: ${error.message}` });
    if (!(error instanceof StoreUnavailable)) this.history.violations.push(`${what} failed: ${error.name}: ${error.message}`);
  }

  async conversationOf(messageId: string): Promise<string> {
    const { facts } = await this.view.refresh();
    const asked = facts.find(({ type, data }) => type === 'TurnAsked' && data['turnId'] === messageId);
    return asked ? (asked.data['conversationId'] as string) : '';
  }

  /** Whether the store was away for a while in this time. */
  readonly isTroubled = (fromMs: number, toMs: number): boolean =>
    this.outages.some((outage) => outage.fromMs <= toMs && outage.toMs >= fromMs);

  async run(): Promise<Result> {
    const { simulation } = this;
    for (const process of this.processes) process.start();
    const troubleMs = simulation.random('trouble').between(...TROUBLE_MS);
    let isOver = false;
    void this.troubles(troubleMs);
    if (this.rooms.schedules || this.rooms.followUps) void this.clocks.run(troubleMs);
    void this.work().then(async () => {
      while ((await this.view.refresh()).open.length > 0 || simulation.nowMs < troubleMs) {
        await simulation.pause(LOOK_EVERY_MS, simulation.world, 'looks whether all is over');
      }
      isOver = true;
    });
    // A pause that began by a clock that was ahead ends as much later.
    const limitMs = troubleMs + RECOVERY_MAX_MS + AHEAD_MS_MAX;
    await simulation.run(() => isOver, limitMs);
    await this.view.refresh();
    const { violations } = this.history;
    if (!isOver) violations.push(`After ${limitMs} ms this is not over: ${this.view.open.join(', ') || 'a client'}.`);
    violations.push(...oracles(this.view, this));
    noteWhatTheLogShows(this.view, this.coverage);
    return {
      seed: simulation.seed,
      digest: simulation.trace.digest,
      steps: simulation.trace.steps,
      virtualMs: simulation.nowMs,
      violations,
      coverage: this.coverage,
      lines: simulation.trace.lines,
    };
  }

  private async work(): Promise<void> {
    const { random } = this;
    const askers = Array.from({ length: random.between(0, 2) }, (_, index) => new Asker(this, `asker${index}`));
    const deliverers = Array.from({ length: askers.length === 0 ? 1 : random.between(0, 1) }, () => new Deliverer(this, 'shop'));
    const owners = this.rooms.schedules
      ? Array.from({ length: random.between(1, 2) }, (_, index) => new ScheduleOwner(this, `owner${index}`))
      : [];
    await Promise.all([
      ...askers.map(async (asker) => {
        await asker.run(random.between(1, 3));
        await this.followUps(asker);
        if (random.oneIn(6)) await asker.deletes();
      }),
      ...deliverers.map((deliverer) => deliverer.run(random.between(1, 3))),
      ...owners.map((owner) => owner.run(random.between(0, 4))),
    ]);
  }

  /** In a conversation there is now: what goes on there by itself. */
  private async followUps(asker: Asker): Promise<void> {
    const { conversation } = asker;
    if (conversation === undefined) return;
    if (this.rooms.schedules) {
      const chat = { ownerId: asker.name, agentId: null, conversationId: conversation };
      await new ScheduleOwner(this, `chat of ${asker.name}`, chat).runOnce();
    }
    if (!this.rooms.followUps) return;
    const watcher = new Watcher(this, asker.name, conversation);
    if (this.random.oneIn(3)) await watcher.stopsJobs();
    if (this.random.oneIn(2)) await watcher.watch();
  }

  private async leaderChanges(cutOffMs: number, electionMs: number): Promise<void> {
    const { simulation, coverage } = this;
    const fromMs = simulation.nowMs;
    this.outages.push({ fromMs, toMs: fromMs + cutOffMs + electionMs + 2_500 });
    coverage.note('the leader changed');
    if ((await this.log.changeLeader(cutOffMs, electionMs)) > 0) coverage.note('events were lost with their leader');
  }

  /** Processes die and come back, and the store goes away; in the end all of them are there. */
  private async troubles(untilMs: number): Promise<void> {
    const { simulation, coverage } = this;
    const random = simulation.random('troubles');
    const isCalm = random.oneIn(4);
    while (!isCalm && simulation.nowMs < untilMs) {
      await simulation.pause(random.next() * 900, simulation.world, 'trouble');
      if (this.isCluster && random.oneIn(4)) {
        await this.leaderChanges(random.between(0, 600), random.between(50, 1_200));
        continue;
      }
      if (random.oneIn(4)) {
        const ms = random.between(100, random.oneIn(3) ? 5_000 : 1_000);
        this.outages.push({ fromMs: simulation.nowMs, toMs: simulation.nowMs + ms + 2_500 });
        this.log.goAway(ms);
        continue;
      }
      const process = this.processes[random.between(0, this.processes.length - 1)]!;
      if (!process.isUp) continue;
      coverage.note('a process was killed');
      process.kill();
      const backAfterMs = random.between(10, random.oneIn(4) ? 5_000 : 400);
      simulation.after(backAfterMs, simulation.world, 'comes back', () => process.start());
    }
  }
}

export type Options = Readonly<{ isTraced?: boolean; mutant?: Mutant | undefined }>;

/** Runs a seed. */
export async function runSeed(seed: number, { isTraced = false, mutant }: Options = {}): Promise<Result> {
  Logger.overrideLogger(false);
  const world = new World(seed, isTraced, mutant);
  const undo = withoutMachine();
  try {
    return await world.run();
  } finally {
    undo();
  }
}
