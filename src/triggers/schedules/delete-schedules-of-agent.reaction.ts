import { Injectable } from '@nestjs/common';
import { Commands } from '../../kernel/commands.js';
import { ScheduleQueries } from '../../../projections/schedules/schedules.queries.js';
import { agentCodec } from '../../resources/agents/agent.codec.js';
import type { AgentDeleted } from '../../resources/agents/agent.events.js';
import type { Codec } from '../../kernel/event-sourcing/codec.js';
import { causedBy, type Recorded } from '../../kernel/event-sourcing/events.js';
import { Freshness, requireReached } from '../../kernel/event-sourcing/freshness.js';
import type { Reaction } from '../../kernel/event-sourcing/reaction.js';
import { Rejection } from '../../kernel/rejection.js';
import { DeleteSchedule } from './schedule/schedule.commands.js';

/**
 * Deletes the schedules of a deleted agent. Steps: wait until the read model has all earlier schedules; delete each. A crash in
 * between repeats the steps for the rest.
 */
@Injectable()
export class DeleteSchedulesOfAgent implements Reaction<AgentDeleted> {
  readonly name = 'delete-schedules-of-agent';
  readonly categories = ['agent'];
  readonly codec: Codec<AgentDeleted> = agentCodec;
  readonly on = { AgentDeleted: (event: Recorded<AgentDeleted>) => this.deleteAll(event) };

  constructor(
    private readonly commands: Commands,
    private readonly schedules: ScheduleQueries,
    private readonly freshness: Freshness,
  ) {}

  private async deleteAll(event: Recorded<AgentDeleted>): Promise<void> {
    await requireReached(this.freshness, ['schedules'], event.position);
    for (const { id, ownerId } of await this.schedules.ofAgent(event.data.agentId)) {
      await this.commands.execute(new DeleteSchedule(id, ownerId, causedBy(event, `system:${this.name}`))).catch(unlessGone);
    }
  }
}

/** The read model may still list a schedule that was deleted meanwhile. */
function unlessGone(error: unknown): void {
  if (!(error instanceof Rejection) || error.code !== 'schedule-not-found') throw error;
}
