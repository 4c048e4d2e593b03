import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { Clock } from '../../kernel/clock.js';
import type { Cause } from '../../kernel/event-sourcing/events.js';
import { newId } from '../../kernel/ids.js';
import { Streams } from '../../kernel/event-sourcing/streams.js';
import { AccessibleReferences } from './accessible-references.js';
import { agent, create } from './agent.decider.js';
import { type AgentConfiguration, type AgentId, agentStream, type AgentStatus } from './agent.events.js';
import { freshKey } from './issued-key.js';
import { WebhookTokens } from './webhook-tokens.js';

export type AgentMade = Readonly<{
  agentId: AgentId;
  /** Empty while the agent is a draft; it is never to be had again. */
  key: string;
  position: bigint | undefined;
}>;

/** A user makes an agent. `id` and `key` are for whoever has to know them beforehand. */
export class CreateAgent extends Command<AgentMade> {
  constructor(
    readonly ownerId: string,
    readonly wanted: Readonly<{ configuration: AgentConfiguration; status: AgentStatus; id?: AgentId; key?: string }>,
    readonly cause: Cause,
  ) {
    super();
  }
}

@CommandHandler(CreateAgent)
export class CreateAgentHandler implements ICommandHandler<CreateAgent> {
  constructor(
    private readonly streams: Streams,
    private readonly clock: Clock,
    private readonly references: AccessibleReferences,
    private readonly webhookTokens: WebhookTokens,
  ) {}

  async execute({ ownerId, wanted, cause }: CreateAgent): Promise<AgentMade> {
    const { configuration, status, id: agentId = newId() } = wanted;
    const { key, issued } = freshKey(wanted.key);
    const inaccessible = await this.references.inaccessible(ownerId, configuration);
    const now = this.clock.now();
    const { state, position } = await this.webhookTokens.minting(ownerId, (webhook) => {
      const decision = create(agentId, ownerId, { configuration, status, inaccessible, key: issued, webhook, now });
      return this.streams.transact(agentStream(agentId), agent, decision, cause);
    });
    return { agentId, key: state.keyId === issued.keyId ? key : '', position };
  }
}
