import type { Command } from '../../../src/kernel/commands.js';
import { CancelJob } from '../../../src/background/jobs/job.commands.js';
import type { Cause } from '../../../src/kernel/event-sourcing/events.js';
import { CreateMonitor, type Steering, SteerMonitor } from '../../../src/triggers/monitors/monitor/monitor.commands.js';
import type { Seeded } from '../../support/seeded.js';
import { Connection, type Reply } from './connection.js';
import { WATCHED } from './outside.js';
import type { World } from './world.js';

const TRIES_MAX = 40;
const WAITS_MS = [200, 2_500] as const;
const LIVES_MS = [2_000, 8_000] as const;

/** A user whose conversation has automatic turns: they create monitors and stop jobs that take too long. */
export class Watcher {
  private requests = 0;
  private readonly random: Seeded;

  constructor(
    private readonly world: World,
    private readonly name: string,
    private readonly conversationId: string,
  ) {
    this.random = world.simulation.random(`${name} watches`);
  }

  async watch(): Promise<void> {
    const { coverage, history } = this.world;
    const { random } = this;
    const monitorId = `${this.name}-monitor`;
    const created = await this.insist('has watched', (cause) => this.creation(monitorId, cause));
    if (created.how !== 'answered') return;
    history.begun.add(`monitor-${monitorId}`);
    coverage.note('something was watched');
    for (let wishes = random.between(0, 2); wishes > 0; wishes--) {
      await this.waits();
      await this.steer(monitorId, random.oneIn(2) ? 'pause' : 'resume');
    }
    await this.waits();
    await this.waits();
    await this.steer(monitorId, 'cancel');
  }

  /** Stops the running jobs of the conversation. */
  async stopsJobs(): Promise<void> {
    await this.waits();
    for (const jobId of await this.world.jobsUnderWay(this.conversationId)) {
      const reply = await this.insist('stops a job', (cause) => new CancelJob(jobId, this.name, 'by-owner', cause));
      if (reply.how === 'answered') this.world.coverage.note('a job was asked to stop');
    }
  }

  private creation(monitorId: string, cause: Cause): CreateMonitor {
    const { simulation } = this.world;
    const { random } = this;
    const expiresAt = new Date(simulation.now().getTime() + random.between(...LIVES_MS)).toISOString();
    const definition = {
      description: 'The news',
      source: { type: 'tool', toolId: 'tool-1', name: 'Tool', actionName: WATCHED, arguments: {} },
      check: { type: 'changed' },
      condition: null,
      onMatch: null,
      intervalSeconds: 1,
      followUpsMax: random.between(1, 3),
      expiresAt,
    } as const;
    const seen = { hash: 'nothing', items: [], holds: false, gist: '' };
    const about = { monitorId, ownerId: this.name, conversationId: this.conversationId, agentId: null };
    return new CreateMonitor({ ...about, definition, seen }, cause);
  }

  private steer(monitorId: string, steering: Steering): Promise<Reply<unknown>> {
    return this.insist(`${steering}s`, (cause) => new SteerMonitor(monitorId, this.name, steering, cause));
  }

  private async insist(what: string, command: (cause: Cause) => Command<bigint | undefined>): Promise<Reply<unknown>> {
    const { simulation, network, history } = this.world;
    for (let tries = 0; tries < TRIES_MAX; tries++) {
      const requestId = `${this.name}-w${++this.requests}`;
      const cause = { actor: `user:${this.name}`, credential: 'session-token', correlationId: requestId, causationId: requestId };
      const fromMs = simulation.nowMs;
      const label = `${this.name} ${what}`;
      const connection = new Connection(simulation, network, this.world.anyProcess(this.random), label, (roles) =>
        roles.commands.execute(command(cause as Cause)),
      );
      const reply = await connection.reply;
      if (reply.how === 'unavailable') this.world.noteUnavailable(label, fromMs, reply.error);
      if (reply.how === 'refused' && reply.code !== 'monitor-over')
        history.violations.push(`${label}, and was refused: ${reply.code}.`);
      if (reply.how === 'answered' || reply.how === 'refused') return reply;
      await this.waits();
    }
    history.violations.push(`${this.name} ${what} in vain.`);
    return { how: 'lost' };
  }

  private waits(): Promise<void> {
    const { simulation } = this.world;
    const { random } = this;
    return simulation.pause(random.between(...WAITS_MS), simulation.world, `${this.name} waits`);
  }
}
