import type { Logger } from 'pino';
import type { Clock } from '../../../src/kernel/clock.js';
import { type Actor, lifeOf } from '../kernel/actor.js';
import { EPOCH_MS, type Simulation } from '../kernel/simulation.js';
import { LogFollower } from '../ports/log-follower.js';
import type { LogServer } from '../ports/log-server.js';
import type { Network } from '../ports/network.js';
import { ProcessStore, type StoreFaults } from '../ports/process-store.js';
import type { SharedBlobs } from '../ports/shared-blobs.js';
import type { SharedKeyValue } from '../ports/shared-key-value.js';
import type { SharedWorkQueue } from '../ports/shared-work-queue.js';
import type { SignalBus } from '../ports/signal-bus.js';
import type { ReadModelServer } from '../read-models/read-model-server.js';
import { ActorTiming } from '../kernel/actor-timing.js';
import { SeededIds } from '../kernel/seeded-ids.js';
import type { Rooms } from './background-roles.js';
import type { Coverage } from './coverage.js';
import type { Mutant } from './mutant.js';
import type { Acknowledged } from './noted-streams.js';
import type { Outside } from './outside.js';
import { ReactionCheckpoint, ReactionFollower } from './reaction-follower.js';
import { type Roles, rolesOver } from './roles.js';
import { ScriptedModel } from './scripted-model.js';

/** What processes share, and what outlives them. */
export type Surroundings = Readonly<{
  simulation: Simulation;
  network: Network;
  log: LogServer;
  signals: SignalBus;
  keyValue: SharedKeyValue;
  queue: SharedWorkQueue;
  readModels: ReadModelServer;
  outside: Outside;
  blobs: SharedBlobs;
  /** The checkpoints of reactions by name. */
  checkpoints: Map<string, ReactionCheckpoint>;
  rooms: Rooms;
  acknowledged: Acknowledged[];
  coverage: Coverage;
  faults: StoreFaults;
  mutant: Mutant | undefined;
}>;

/** A process of the service with all roles, with its own ports to what it shares with others. It crashes and restarts. */
export class ServiceProcess {
  private roles: Roles | undefined;
  private readonly follower: LogFollower | undefined;
  private readonly onDeath = new Set<() => void>();

  constructor(
    readonly actor: Actor,
    private readonly around: Surroundings,
    /** The offset of its clock. */
    public clockOffMs: number,
    readsFromFollower: boolean,
  ) {
    this.follower = readsFromFollower ? new LogFollower(around.simulation, around.log, actor.name) : undefined;
  }

  get isUp(): boolean {
    return this.roles !== undefined;
  }

  start(): void {
    if (this.roles) return;
    const { actor, around } = this;
    around.simulation.after(0, actor, 'starts', () => {
      this.roles = this.assembled();
      this.roles.start();
    });
  }

  /** Kills the process at any moment. */
  kill(): void {
    if (!this.roles) return;
    this.roles = undefined;
    this.actor.life++;
    for (const told of [...this.onDeath]) told();
    this.onDeath.clear();
  }

  /** Lets the process work for a client. `lost` is called if the process crashes meanwhile. */
  serve(label: string, work: (roles: Roles) => void, lost: () => void): () => void {
    const { simulation, network } = this.around;
    if (!this.roles) {
      simulation.after(network.delayMs(), simulation.world, 'connection refused', lost);
      return () => undefined;
    }
    this.onDeath.add(lost);
    simulation.afterFor(network.delayMs(), lifeOf(this.actor), label, () => this.roles && work(this.roles));
    return () => this.onDeath.delete(lost);
  }

  private assembled(): Roles {
    const { actor, around } = this;
    const { simulation, network, readModels, checkpoints } = around;
    const random = (what: string) => simulation.random(`${actor.name} ${actor.life} ${what}`);
    const clock: Clock = { now: () => new Date(EPOCH_MS + Math.floor(simulation.nowMs + this.clockOffMs)) };
    const store = new ProcessStore(
      simulation,
      actor,
      network,
      around.log,
      around.faults,
      random('store'),
      around.coverage,
      this.follower,
    );
    around.mutant?.store?.(store);
    const roles = rolesOver({
      mutant: around.mutant,
      store,
      signals: around.signals.of(actor),
      keyValue: around.keyValue.of(actor),
      queue: around.queue.of(actor),
      clock,
      timing: new ActorTiming(simulation, actor, random('timing')),
      ids: new SeededIds(random('ids')),
      models: new ScriptedModel(simulation, actor, random('model')),
      toolbox: around.outside.toolbox(actor),
      unsealedTurns: readModels.reached(readModels.unsealedTurns, actor),
      tasks: readModels.reached(readModels.tasks, actor),
      schedules: readModels.reached(readModels.schedules, actor),
      jobs: readModels.reached(readModels.jobs, actor),
      monitors: readModels.reached(readModels.monitors, actor),
      followUps: readModels.reached(readModels.followUps, actor),
      blobs: around.blobs.of(actor),
      rooms: around.rooms,
      acknowledged: around.acknowledged,
      log: { error: () => undefined, warn: () => undefined } as unknown as Logger,
    });
    around.mutant?.roles?.(roles);
    for (const reaction of roles.reactions) {
      const checkpoint = checkpoints.get(reaction.name) ?? new ReactionCheckpoint();
      checkpoints.set(reaction.name, checkpoint);
      void new ReactionFollower(simulation, network, actor, store, reaction, checkpoint, around.mutant?.isDoneBeforeActing).run();
    }
    return roles;
  }
}
