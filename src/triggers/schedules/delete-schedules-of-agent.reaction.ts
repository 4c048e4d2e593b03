import { Injectable } from '@nestjs/common';
import { Commands } from '../../kernel/commands.js';
import { AgentQueries } from '../../../projections/agents/agents.queries.js';
import { ScheduleQueries } from '../../../projections/schedules/schedules.queries.js';
import { agentCodec } from '../../resources/agents/agent.codec.js';
import type { AgentDeleted } from '../../resources/agents/agent.events.js';
import type { Codec } from '../../kernel/event-sourcing/codec.js';
import { causedBy, type Recorded } from '../../kernel/event-sourcing/events.js';
import { Freshness, requireReached } from '../../kernel/event-sourcing/freshness.js';
import type { Reaction } from '../../kernel/event-sourcing/reaction.js';
import { unlessRejected } from '../../kernel/rejection.js';
import { scheduleCodec } from './schedule/schedule.codec.js';
import { DeleteSchedule } from './schedule/schedule.commands.js';
import type { ScheduleCreated, ScheduleId } from './schedule/schedule.events.js';

type Followed = AgentDeleted | ScheduleCreated;

/**
 * Deletes the schedules of a deleted agent. Steps for a deleted agent: wait until the read model has all earlier schedules; delete
 * each. Steps for a new schedule: wait until the read model has all earlier deletions; delete the schedule if its agent is gone. A
 * crash in between repeats the steps for the rest.
 */
@Injectable()
export class DeleteSchedulesOfAgent implements Reaction<Followed> {
  readonly name = 'delete-schedules-of-agent';
  readonly categories = ['agent', 'schedule'];
  readonly codec: Codec<Followed> = { ...agentCodec, ...scheduleCodec };
  readonly on = {
    AgentDeleted: (event: Recorded<AgentDeleted>) => this.deleteAll(event),
    ScheduleCreated: (event: Recorded<ScheduleCreated>) => this.deleteIfAlone(event),
  };

  constructor(
    private readonly commands: Commands,
    private readonly schedules: ScheduleQueries,
    private readonly agents: AgentQueries,
    private readonly freshness: Freshness,
  ) {}

  private async deleteAll(event: Recorded<AgentDeleted>): Promise<void> {
    await requireReached(this.freshness, ['schedules'], event.position);
    for (const { id, ownerId } of await this.schedules.ofAgent(event.data.agentId)) await this.delete(id, ownerId, event);
  }

  private async deleteIfAlone(event: Recorded<ScheduleCreated>): Promise<void> {
    const { scheduleId, ownerId, origin } = event.data;
    if (origin.agentId === null) return;
    await requireReached(this.freshness, ['agents'], event.position);
    if (!(await this.agents.byId(origin.agentId))) await this.delete(scheduleId, ownerId, event);
  }

  private async delete(scheduleId: ScheduleId, ownerId: string, event: Recorded<Followed>): Promise<void> {
    const cause = causedBy(event, `system:${this.name}`);
    // The read model may still list a schedule that was deleted meanwhile.
    await this.commands.execute(new DeleteSchedule(scheduleId, ownerId, cause)).catch(unlessRejected('schedule-not-found'));
  }
}
