import { StoreUnavailable } from '../../../src/kernel/event-sourcing/event-store.js';
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
import type { Rooms } from './background-roles.js';
import { Coverage } from './coverage.js';
import { History } from './history.js';
import { noteWhatTheLogShows } from './log-coverage.js';
import { LogView } from './log-view.js';
import type { Mutant } from './mutant.js';
import { Outside } from './outside.js';
import { Parts } from './parts.js';
import { ServiceProcess, type Surroundings } from './service-process.js';
import { Troubles } from './troubles.js';
import { workload } from './workload.js';
import { WrongClocks } from './wrong-clocks.js';

/** The duration of the faults. */
const TROUBLE_MS = [800, 4_000] as const;
/** The time after the faults within which everything must end. */
const RECOVERY_MAX_MS = 90_000;
const LOOK_EVERY_MS = 250;
/** 1 in this many appends loses its response. Each run uses one of these values. */
const LOST_ANSWERS_ONE_IN = [Infinity, 60, 15];

export type Result = Readonly<{
  seed: number;
  digest: string;
  steps: number;
  virtualMs: number;
  violations: readonly string[];
  coverage: Coverage;
  lines: readonly string[];
  /** The parts that the seed has, including those that were left out. */
  parts: readonly string[];
}>;

/** Everything in one run of the simulation, derived from its seed. */
export class World {
  readonly parts: Parts;
  readonly history = new History();
  readonly coverage = new Coverage();
  readonly simulation: Simulation;
  readonly network: Network;
  readonly log: LogServer;
  readonly outside: Outside;
  readonly rooms: Rooms;
  private readonly view: LogView;
  private readonly queue: SharedWorkQueue;
  private readonly processes: readonly ServiceProcess[];
  readonly clocks: WrongClocks;
  private readonly troubles: Troubles;

  constructor(seed: number, { isTraced = false, mutant, leftOut = new Set() }: Options) {
    this.simulation = new Simulation(seed, new Actor('world'), isTraced);
    this.parts = new Parts(leftOut);
    const { simulation, coverage, parts } = this;
    const rooms = simulation.random('rooms');
    this.rooms = {
      schedules: rooms.oneIn(3),
      followUps: rooms.oneIn(3),
      unseenWorkersMs: rooms.oneIn(3) && parts.has('workers that are not seen') ? rooms.between(5, 300) : undefined,
    };
    this.network = new Network(simulation);
    this.log = new LogServer(simulation);
    this.outside = new Outside(simulation, this.network, simulation.random('outside'), this.rooms.followUps);
    this.view = new LogView(this.log.store);
    this.queue = new SharedWorkQueue(simulation, this.network);
    const faults = simulation.random('faults');
    const lostAnswerOneIn = LOST_ANSWERS_ONE_IN[faults.between(0, LOST_ANSWERS_ONE_IN.length - 1)]!;
    const around: Surroundings = {
      simulation,
      network: this.network,
      log: this.log,
      signals: new SignalBus(simulation, this.network),
      keyValue: new SharedKeyValue(simulation, this.network),
      queue: this.queue,
      readModels: new ReadModelServer(simulation, this.network, this.log),
      outside: this.outside,
      blobs: new SharedBlobs(this.network),
      checkpoints: new Map(),
      rooms: this.rooms,
      acknowledged: this.history.acknowledged,
      coverage,
      faults: {
        lostAnswerOneIn: parts.has('lost answers') ? lostAnswerOneIn : Infinity,
        inFlightTimeoutMs: mutant?.inFlightTimeoutMs ?? IN_FLIGHT_TIMEOUT_MS,
      },
      mutant,
    };
    mutant?.readModels?.(around.readModels);
    const cluster = simulation.random('cluster');
    const isCluster = cluster.oneIn(2);
    const names = ['one', 'two', 'three']
      .slice(0, faults.between(2, 3))
      .filter((name) => name !== 'three' || parts.has('process three'));
    this.processes = names.map(
      (name) =>
        new ServiceProcess(
          new Actor(name),
          around,
          faults.between(-20, 20),
          isCluster && cluster.oneIn(2) && parts.has(`the lag of what ${name} follows`),
        ),
    );
    this.clocks = new WrongClocks(simulation, this.processes, coverage);
    this.troubles = new Troubles(this, this.processes, isCluster);
  }

  /** The jobs of a conversation that have not ended. */
  async jobsUnderWay(conversationId: string): Promise<readonly string[]> {
    const jobs = (await this.view.refresh()).of('job').filter(([, facts]) => facts[0]!.data['conversationId'] === conversationId);
    const underWay = jobs.filter(([, facts]) => facts.every(({ type }) => type === 'JobStarted' || type === 'JobProgressed'));
    return underWay.map(([, facts]) => facts[0]!.data['jobId'] as string);
  }

  /** Resolves once the first slot of a schedule is decided. */
  async slotOf(scheduleId: string): Promise<void> {
    const isDecided = async () => (await this.view.refresh()).byStream.get(`schedule-${scheduleId}`)!.length > 1;
    while (!(await isDecided())) await this.simulation.pause(LOOK_EVERY_MS, this.simulation.world, 'looks for a slot');
  }

  anyProcess(random: Seeded): ServiceProcess {
    return this.processes[random.between(0, this.processes.length - 1)]!;
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

  /** Whether the store was unavailable at some time in this interval. */
  readonly isTroubled = (fromMs: number, toMs: number): boolean => this.troubles.isTroubled(fromMs, toMs);

  async run(): Promise<Result> {
    const { simulation } = this;
    for (const process of this.processes) process.start();
    const troubleMs = this.parts.has('time for troubles') ? simulation.random('trouble').between(...TROUBLE_MS) : 0;
    let isOver = false;
    this.queue.losesUntilMs = troubleMs;
    void this.troubles.run(troubleMs);
    const isBackground = this.rooms.schedules || this.rooms.followUps;
    if (isBackground && this.parts.has('wrong clocks')) void this.clocks.run(troubleMs);
    void workload(this).then(async () => {
      while ((await this.view.refresh()).open.length > 0 || simulation.nowMs < troubleMs) {
        await simulation.pause(LOOK_EVERY_MS, simulation.world, 'looks whether all is over');
      }
      isOver = true;
    });
    // A pause that started by a fast clock ends later by as much as the clock was ahead.
    const limitMs = troubleMs + RECOVERY_MAX_MS + this.clocks.aheadMsMax;
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
      parts: [...this.parts.known],
    };
  }
}

export type Options = Readonly<{
  isTraced?: boolean;
  mutant?: Mutant | undefined;
  /** The parts to leave out. */
  leftOut?: ReadonlySet<string>;
}>;

/** Runs a seed. */
export async function runSeed(seed: number, options: Options = {}): Promise<Result> {
  Logger.overrideLogger(false);
  const world = new World(seed, options);
  const undo = withoutMachine();
  try {
    return await world.run();
  } finally {
    undo();
  }
}
