import type { Command } from '../../../src/kernel/commands.js';
import type { Cause } from '../../../src/kernel/event-sourcing/events.js';
import {
  CancelSchedule,
  ChangeSchedule,
  CreateSchedule,
  PauseSchedule,
  ResumeSchedule,
  RunScheduleNow,
} from '../../../src/triggers/schedules/schedule/schedule.commands.js';
import type { Seeded } from '../../support/seeded.js';
import { Connection, type Reply } from './connection.js';
import { planOf, questionOf } from './plan.js';
import { AGENT_ID } from './roles.js';
import type { World } from './world.js';

const TRIES_MAX = 40;
const WAITS_MS = [50, 1_500] as const;
const ONCE_AFTER_MS = [200, 4_000] as const;
/** The agent's owner, without a conversation. */
const ANYWHERE = { ownerId: 'alice', agentId: AGENT_ID, conversationId: null };
/** The refusals that an owner may get because clocks differ and runs are under way. */
const REFUSALS = new Set([
  'schedule-run-in-flight',
  'schedule-terminal',
  'schedule-cancelled',
  'schedule-elapsed',
  'schedule-run-started',
  'schedule-catching-up',
  'invalid-schedule',
]);

/** An owner of a schedule, recurring every minute or one-time, who pauses, resumes, changes, runs and finally cancels it. */
export class ScheduleOwner {
  private requests = 0;
  private readonly random: Seeded;
  private readonly scheduleId: string;

  constructor(
    private readonly world: World,
    readonly name: string,
    private readonly origin: Readonly<{ ownerId: string; agentId: string | null; conversationId: string | null }> = ANYWHERE,
  ) {
    this.random = world.simulation.random(name);
    this.scheduleId = `${name.replaceAll(' ', '-')}-schedule`;
  }

  async run(wishes: number): Promise<void> {
    const { coverage } = this.world;
    const { random } = this;
    const isOnce = random.oneIn(3);
    coverage.note(isOnce ? 'something was scheduled once' : 'something was scheduled every minute');
    const created = await this.insist('creates', (cause) => this.creation(isOnce, cause));
    if (created.how !== 'answered') return;
    this.world.history.begun.add(`schedule-${this.scheduleId}`);
    for (let count = 0; count < wishes; count++) {
      await this.waits();
      if (this.world.parts.has(`wish ${count} of ${this.name}`)) await this.wishes();
    }
    await this.waits();
    await this.callsOff();
  }

  /** Creates a one-time schedule and waits until its slot is decided. */
  async runOnce(): Promise<void> {
    const created = await this.insist('creates', (cause) => this.creation(true, cause));
    if (created.how !== 'answered') return;
    this.world.history.begun.add(`schedule-${this.scheduleId}`);
    await this.world.slotOf(this.scheduleId);
    await this.callsOff();
  }

  private async callsOff(): Promise<void> {
    const cancelled = await this.insist('cancels', (cause) => new CancelSchedule(this.scheduleId, this.origin.ownerId, cause));
    if (cancelled.how === 'answered') this.world.history.schedulesCancelled.add(this.scheduleId);
  }

  private creation(isOnce: boolean, cause: Cause): CreateSchedule {
    const { simulation } = this.world;
    const { random } = this;
    const runAt = new Date(simulation.now().getTime() + random.between(...ONCE_AFTER_MS)).toISOString();
    const timing = isOnce ? { trigger_type: 'once', run_at: runAt } : { trigger_type: 'recurring', cron: '* * * * *' };
    const { agentId, conversationId } = this.origin;
    const origin = { agentId, conversationId, createdVia: 'ui' } as const;
    return new CreateSchedule(
      this.scheduleId,
      this.origin.ownerId,
      origin,
      { instruction: this.instruction(), ...timing },
      cause,
    );
  }

  private async wishes(): Promise<void> {
    const { coverage, history } = this.world;
    const { random } = this;
    const { scheduleId } = this;
    switch (random.between(0, 3)) {
      case 0: {
        const runId = `${scheduleId}-run-${++this.requests}`;
        const reply = await this.request(
          'wants a run',
          (cause) => new RunScheduleNow(scheduleId, this.origin.ownerId, runId, cause),
        );
        if (reply.how !== 'answered') return;
        coverage.note('a run was asked for');
        history.runsAccepted.set(runId, scheduleId);
        return;
      }
      case 1:
        coverage.note('a schedule was paused');
        await this.insist('pauses', (cause) => new PauseSchedule(scheduleId, this.origin.ownerId, cause));
        return;
      case 2:
        await this.insist('resumes', (cause) => new ResumeSchedule(scheduleId, this.origin.ownerId, undefined, cause));
        return;
      default: {
        const asked = { instruction: this.instruction() };
        await this.request('changes', (cause) => new ChangeSchedule(scheduleId, this.origin.ownerId, asked, cause));
      }
    }
  }

  /** Repeats a command until its outcome is known. */
  private async insist(what: string, command: (cause: Cause) => Command<bigint | undefined>): Promise<Reply<unknown>> {
    for (let tries = 0; tries < TRIES_MAX; tries++) {
      const reply = await this.request(what, command);
      if (reply.how === 'answered' || (reply.how === 'refused' && reply.code !== 'schedule-catching-up')) return reply;
      await this.waits();
    }
    this.world.history.violations.push(`${this.name} ${what} in vain.`);
    return { how: 'lost' };
  }

  private async request(what: string, command: (cause: Cause) => Command<bigint | undefined>): Promise<Reply<unknown>> {
    const { simulation, network, history } = this.world;
    const requestId = `${this.name}-r${++this.requests}`;
    const cause = {
      actor: `user:${this.origin.ownerId}`,
      credential: 'session-token',
      correlationId: requestId,
      causationId: requestId,
    } as const;
    const fromMs = simulation.nowMs;
    const label = `${this.name} ${what}`;
    const connection = new Connection(simulation, network, this.world.anyProcess(this.random), label, (roles) =>
      roles.commands.execute(command(cause)),
    );
    const reply = await connection.reply;
    if (reply.how === 'unavailable') this.world.noteUnavailable(label, fromMs, reply.error);
    if (reply.how === 'refused' && !REFUSALS.has(reply.code))
      history.violations.push(`${label}, and was refused: ${reply.code}.`);
    return reply;
  }

  private instruction(): string {
    const { random } = this;
    return questionOf({ ...planOf(`${this.name}s${++this.requests}`, random), fails: random.oneIn(10) });
  }

  private waits(): Promise<void> {
    const { simulation } = this.world;
    const { random } = this;
    return simulation.pause(random.between(...WAITS_MS), simulation.world, `${this.name} waits`);
  }
}
