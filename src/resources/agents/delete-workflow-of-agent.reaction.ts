import { Injectable } from '@nestjs/common';
import { Commands } from '../../kernel/commands.js';
import type { Codec } from '../../kernel/event-sourcing/codec.js';
import { causedBy, type Recorded } from '../../kernel/event-sourcing/events.js';
import { Freshness, requireReached } from '../../kernel/event-sourcing/freshness.js';
import type { Reaction } from '../../kernel/event-sourcing/reaction.js';
import { Streams } from '../../kernel/event-sourcing/streams.js';
import { Rejection } from '../../kernel/rejection.js';
import { DeleteWorkflow } from '../workflows/workflow.commands.js';
import { agentCodec } from './agent.codec.js';
import { agent } from './agent.decider.js';
import { type AgentDeleted, agentStream } from './agent.events.js';

/**
 * Deletes the workflow of a deleted agent, unless another agent uses it. Step 1 reads the workflow's id from the agent's
 * stream, step 2 deletes the workflow. A crash before the checkpoint repeats both, which does not change the result.
 */
@Injectable()
export class DeleteWorkflowOfAgent implements Reaction<AgentDeleted> {
  readonly name = 'delete-workflow-of-agent';
  readonly categories = ['agent'];
  readonly codec: Codec<AgentDeleted> = { AgentDeleted: agentCodec.AgentDeleted };
  readonly on = { AgentDeleted: (event: Recorded<AgentDeleted>) => this.delete(event) };

  constructor(
    private readonly streams: Streams,
    private readonly commands: Commands,
    private readonly freshness: Freshness,
  ) {}

  private async delete(event: Recorded<AgentDeleted>): Promise<void> {
    const { agentId } = event.data;
    const { state } = await this.streams.fold(agentStream(agentId), agent);
    const workflowId = state.configuration?.workflowId;
    if (!workflowId) return;
    await requireReached(this.freshness, ['agents'], event.position);
    const cause = causedBy(event, `system:${this.name}`);
    try {
      await this.commands.execute(new DeleteWorkflow(workflowId, state.ownerId, cause, agentId));
    } catch (error) {
      // Another agent uses the workflow, or the owner has deleted it already.
      if (!(error instanceof Rejection)) throw error;
    }
  }
}
