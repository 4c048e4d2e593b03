import { CommandHandler } from '@nestjs/cqrs';
import { Clock } from '../../kernel/clock.js';
import { Command, type Handler } from '../../kernel/commands.js';
import type { Cause } from '../../kernel/event-sourcing/events.js';
import { Streams } from '../../kernel/event-sourcing/streams.js';
import { newId } from '../../kernel/ids.js';
import { AccessibleReferences } from './accessible-references.js';
import {
  agent,
  type AgentChange,
  type AgentImport,
  create,
  importInto,
  mintWebhook,
  pin,
  regenerateKey,
  remove,
  unpin,
  update,
} from './agent.decider.js';
import { type AgentConfiguration, type AgentId, type AgentStatus, agentStream, type AgentWebhook } from './agent.events.js';
import { freshKey } from './issued-key.js';
import { WebhookTokens } from './webhook-tokens.js';

export type AgentMade = Readonly<{
  agentId: AgentId;
  /** The key, if this command issued it; otherwise empty. It cannot be read again later. */
  key: string;
  position: bigint | undefined;
}>;

/** Creates an agent. Callers that need to know the id and the key beforehand pass `id` and `key`. */
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
export class CreateAgentHandler implements Handler<CreateAgent> {
  constructor(
    private readonly streams: Streams,
    private readonly clock: Clock,
    private readonly references: AccessibleReferences,
    private readonly webhookTokens: WebhookTokens,
  ) {}

  async execute({ ownerId, wanted, cause }: CreateAgent): Promise<AgentMade> {
    const { configuration, status, id: agentId = newId() } = wanted;
    const { key, issued } = freshKey(wanted.key);
    const inaccessible = await this.references.inaccessible([ownerId], configuration);
    const now = this.clock.now();
    const { state, position } = await this.webhookTokens.minting(ownerId, (webhook) => {
      const decision = create(agentId, ownerId, { configuration, status, inaccessible, key: issued, webhook, now });
      return this.streams.transact(agentStream(agentId), agent, decision, cause);
    });
    return { agentId, key: state.keyId === issued.keyId ? key : '', position };
  }
}

/** Creates or changes an agent as an imported file says. */
export class ImportIntoAgent extends Command<Readonly<{ status: AgentStatus; slug: string; position: bigint | undefined }>> {
  constructor(
    readonly agentId: AgentId,
    readonly ownerId: string,
    readonly wanted: Omit<AgentImport, 'now'>,
    readonly cause: Cause,
  ) {
    super();
  }
}

@CommandHandler(ImportIntoAgent)
class ImportIntoAgentHandler implements Handler<ImportIntoAgent> {
  constructor(
    private readonly streams: Streams,
    private readonly clock: Clock,
    private readonly webhookTokens: WebhookTokens,
  ) {}

  async execute({ agentId, ownerId, wanted, cause }: ImportIntoAgent) {
    const stream = agentStream(agentId);
    const change = { ...wanted, now: this.clock.now() };
    const known = await this.streams.fold(stream, agent);
    const applied = (webhook?: AgentWebhook) =>
      this.streams.transact(stream, agent, importInto(agentId, ownerId, change, webhook), cause, known);
    const isNew = known.state.status === 'none';
    const { state, position } = await (isNew ? this.webhookTokens.minting(ownerId, applied) : applied());
    const status: AgentStatus = state.status === 'published' ? 'published' : 'draft';
    return { status, slug: state.configuration!.slug, position };
  }
}

/** Changes an agent, publishes it, or makes it a draft again. Sent by the agent's owner or by an editor of it. */
export class UpdateAgent extends Command<AgentMade> {
  constructor(
    readonly agentId: AgentId,
    readonly ownerId: string,
    readonly change: Pick<AgentChange, 'changes' | 'status' | 'expectedUpdatedAt'> & Readonly<{ editorId?: string }>,
    readonly cause: Cause,
  ) {
    super();
  }
}

@CommandHandler(UpdateAgent)
export class UpdateAgentHandler implements Handler<UpdateAgent> {
  constructor(
    private readonly streams: Streams,
    private readonly clock: Clock,
    private readonly references: AccessibleReferences,
  ) {}

  async execute({ agentId, ownerId, change, cause }: UpdateAgent): Promise<AgentMade> {
    const { key, issued } = freshKey();
    const { editorId = ownerId, ...wanted } = change;
    const inaccessible = await this.references.inaccessible([ownerId, editorId], wanted.changes);
    const decision = update(ownerId, { ...wanted, inaccessible, key: issued, now: this.clock.now() });
    const { state, position } = await this.streams.transact(agentStream(agentId), agent, decision, cause);
    return { agentId, key: state.keyId === issued.keyId ? key : '', position };
  }
}

/** Deletes an agent with its key, its webhook and its link. */
export class DeleteAgent extends Command<bigint | undefined> {
  constructor(
    readonly agentId: AgentId,
    readonly ownerId: string,
    readonly cause: Cause,
  ) {
    super();
  }
}

@CommandHandler(DeleteAgent)
export class DeleteAgentHandler implements Handler<DeleteAgent> {
  constructor(
    private readonly streams: Streams,
    private readonly webhookTokens: WebhookTokens,
  ) {}

  async execute({ agentId, ownerId, cause }: DeleteAgent): Promise<bigint | undefined> {
    const { state, position } = await this.streams.transact(agentStream(agentId), agent, remove(ownerId), cause);
    if (state.webhook) await this.webhookTokens.delete(ownerId, state.webhook);
    return position;
  }
}

/** Pins an agent for a user, or removes the pin. The sender has checked that the user may reach the agent. */
export class PinAgent extends Command<bigint | undefined> {
  constructor(
    readonly agentId: AgentId,
    readonly userId: string,
    readonly pinned: boolean,
    readonly cause: Cause,
  ) {
    super();
  }
}

@CommandHandler(PinAgent)
export class PinAgentHandler implements Handler<PinAgent> {
  constructor(private readonly streams: Streams) {}

  async execute({ agentId, userId, pinned, cause }: PinAgent): Promise<bigint | undefined> {
    const decision = pinned ? pin(userId) : unpin(userId);
    return (await this.streams.transact(agentStream(agentId), agent, decision, cause)).position;
  }
}

/** Revokes the key of an agent and issues a new one in the same append. */
export class RegenerateAgentKey extends Command<AgentMade> {
  constructor(
    readonly agentId: AgentId,
    readonly ownerId: string,
    readonly cause: Cause,
  ) {
    super();
  }
}

@CommandHandler(RegenerateAgentKey)
export class RegenerateAgentKeyHandler implements Handler<RegenerateAgentKey> {
  constructor(private readonly streams: Streams) {}

  async execute({ agentId, ownerId, cause }: RegenerateAgentKey): Promise<AgentMade> {
    const { key, issued } = freshKey();
    const { position } = await this.streams.transact(agentStream(agentId), agent, regenerateKey(ownerId, issued), cause);
    return { agentId, key, position };
  }
}

/** Gives a webhook to an agent that was created before agents had webhooks. Concurrent commands return the same webhook. */
export class MintAgentWebhook extends Command<Readonly<{ webhook: AgentWebhook; position: bigint | undefined }>> {
  constructor(
    readonly agentId: AgentId,
    readonly ownerId: string,
    readonly cause: Cause,
  ) {
    super();
  }
}

@CommandHandler(MintAgentWebhook)
export class MintAgentWebhookHandler implements Handler<MintAgentWebhook> {
  constructor(
    private readonly streams: Streams,
    private readonly webhookTokens: WebhookTokens,
  ) {}

  async execute({ agentId, ownerId, cause }: MintAgentWebhook) {
    const { state, position } = await this.webhookTokens.minting(ownerId, (webhook) =>
      this.streams.transact(agentStream(agentId), agent, mintWebhook(ownerId, webhook), cause),
    );
    return { webhook: state.webhook!, position };
  }
}

export const agentHandlers = [
  CreateAgentHandler,
  DeleteAgentHandler,
  ImportIntoAgentHandler,
  MintAgentWebhookHandler,
  PinAgentHandler,
  RegenerateAgentKeyHandler,
  UpdateAgentHandler,
];
