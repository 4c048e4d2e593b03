import { Injectable } from '@nestjs/common';
import { AgentQueries } from '../../../projections/agents/agents.queries.js';
import { MonitorQueries } from '../../../projections/monitors/monitors.queries.js';
import { Commands } from '../../kernel/commands.js';
import type { Codec } from '../../kernel/event-sourcing/codec.js';
import { causedBy, type Recorded } from '../../kernel/event-sourcing/events.js';
import { Freshness, requireReached } from '../../kernel/event-sourcing/freshness.js';
import type { Reaction } from '../../kernel/event-sourcing/reaction.js';
import { agentCodec } from '../../resources/agents/agent.codec.js';
import type { AgentDeleted } from '../../resources/agents/agent.events.js';
import { monitorCodec } from './monitor/monitor.codec.js';
import { CancelMonitorWith } from './monitor/monitor.commands.js';
import type { MonitorCreated } from './monitor/monitor.events.js';

type Followed = AgentDeleted | MonitorCreated;

/**
 * Cancels the monitors of a deleted agent, which could no longer continue a conversation. Steps for a deleted agent: wait until the
 * read model has all earlier monitors; cancel each. Steps for a new monitor: wait until the read model has all earlier deletions;
 * cancel the monitor if its agent is gone. A crash in between repeats the steps for the rest.
 */
@Injectable()
export class CancelMonitorsOfAgent implements Reaction<Followed> {
  readonly name = 'cancel-monitors-of-agent';
  readonly categories = ['agent', 'monitor'];
  readonly codec: Codec<Followed> = { ...agentCodec, ...monitorCodec };
  readonly on = {
    AgentDeleted: (event: Recorded<AgentDeleted>) => this.cancelAll(event),
    MonitorCreated: (event: Recorded<MonitorCreated>) => this.cancelIfAlone(event),
  };

  constructor(
    private readonly commands: Commands,
    private readonly monitors: MonitorQueries,
    private readonly agents: AgentQueries,
    private readonly freshness: Freshness,
  ) {}

  private async cancelAll(event: Recorded<AgentDeleted>): Promise<void> {
    await requireReached(this.freshness, ['monitors'], event.position);
    for (const monitorId of await this.monitors.liveOfAgent(event.data.agentId)) await this.cancel(monitorId, event);
  }

  private async cancelIfAlone(event: Recorded<MonitorCreated>): Promise<void> {
    const { monitorId, agentId } = event.data;
    if (agentId === null) return;
    await requireReached(this.freshness, ['agents'], event.position);
    if (!(await this.agents.byId(agentId))) await this.cancel(monitorId, event);
  }

  private cancel(monitorId: string, event: Recorded<Followed>): Promise<void> {
    return this.commands.execute(new CancelMonitorWith('agent', monitorId, causedBy(event, `system:${this.name}`)));
  }
}
