import { Injectable } from '@nestjs/common';
import { Commands } from '../../../kernel/commands.js';
import { collectFailures } from '../../../kernel/each-of.js';
import type { Cause } from '../../../kernel/event-sourcing/events.js';
import { Freshness, requireReached } from '../../../kernel/event-sourcing/freshness.js';
import { Streams } from '../../../kernel/event-sourcing/streams.js';
import { deterministicId } from '../../../kernel/ids.js';
import { Rejection } from '../../../kernel/rejection.js';
import { ImportCustomModel } from '../../models/custom/custom-model.commands.js';
import { CreatePrompt } from '../../prompts/prompt.commands.js';
import { ImportTool } from '../../tools/toolbox/tool.commands.js';
import { ChangeWorkflow, CreateWorkflow, DeleteWorkflow } from '../../workflows/workflow.commands.js';
import { ImportIntoAgent } from '../agent.commands.js';
import type { AgentId, AgentStatus } from '../agent.events.js';
import { agentImport, type AgentImportState } from './agent-import.decider.js';
import { FinishAgentImport } from './agent-import.commands.js';
import { type AgentImportId, agentImportStream, type ImportPart } from './agent-import.events.js';
import { ReleaseAgentSlugs, ReserveAgentSlug } from './agent-slugs.commands.js';

const PARTS_AT_ONCE_MAX = 16;

/** What came of an import. */
export type ImportOutcome = Readonly<{
  agentId: AgentId;
  action: 'created' | 'updated';
  status: AgentStatus;
  slug: string;
  agentType: string;
  warnings: readonly string[];
  position: bigint | undefined;
}>;

/**
 * Does what an import was accepted for. Steps: make the parts, unlisted, the workflow last; wait until read models know them; reserve the slug;
 * make or change the agent, in one append, with which the parts are listed; release the slug that it had; delete the workflow that it
 * left; state the end. All
 * ids follow from the import, and each step that was done already does nothing, so a crash anywhere repeats them harmlessly.
 */
@Injectable()
export class AgentImports {
  constructor(
    private readonly streams: Streams,
    private readonly commands: Commands,
    private readonly freshness: Freshness,
  ) {}

  /** Undefined while it is not accepted. @throws ReadModelsBehind */
  async complete(importId: AgentImportId, cause: Cause): Promise<ImportOutcome | undefined> {
    const { state } = await this.streams.fold(agentImportStream(importId), agentImport);
    return state.accepted ? this.completeAccepted(state, state.accepted, cause) : undefined;
  }

  private async completeAccepted(
    state: AgentImportState,
    accepted: NonNullable<AgentImportState['accepted']>,
    cause: Cause,
  ): Promise<ImportOutcome> {
    const { importId, ownerId, action, warnings } = accepted;
    if (state.status !== 'finished') await this.makeParts(state.parts, ownerId, importId, cause);
    const instead = deterministicId('imported-agent', importId);
    const applied = await this.apply(state.agentId ?? accepted.agentId, state, accepted, cause).catch((error: unknown) => {
      // It was deleted meanwhile: a new one takes its place.
      if (error instanceof Rejection && error.code === 'agent-not-found' && state.agentId === null)
        return this.apply(instead, state, accepted, cause);
      throw error;
    });
    let { position } = applied;
    if (state.status !== 'finished') {
      // The deletion comes after the agent's event.
      if (accepted.deletes !== null)
        position = (await this.deleteWorkflow(accepted.deletes, ownerId, applied.agentId, cause)) ?? position;
      await this.commands.execute(new FinishAgentImport(importId, applied.agentId, cause));
    }
    return {
      ...applied,
      position,
      action: applied.agentId === accepted.agentId ? action : 'created',
      agentType: accepted.imported.agentType,
      warnings,
    };
  }

  private async apply(
    agentId: AgentId,
    { parts, status }: AgentImportState,
    { importId, ownerId, slug: wanted, imported }: NonNullable<AgentImportState['accepted']>,
    cause: Cause,
  ) {
    const isNew = status !== 'finished' && wanted !== null;
    const slug = isNew ? await this.commands.execute(new ReserveAgentSlug(ownerId, agentId, wanted, cause)) : undefined;
    const change = { importId, imported, slug, hasParts: parts.length > 0 };
    const applied = await this.commands
      .execute(new ImportIntoAgent(agentId, ownerId, change, cause))
      .catch(async (error: unknown) => {
        if (error instanceof Rejection) await this.commands.execute(new ReleaseAgentSlugs(ownerId, agentId, undefined, cause));
        throw error;
      });
    if (isNew) await this.commands.execute(new ReleaseAgentSlugs(ownerId, agentId, applied.slug, cause));
    return { ...applied, agentId };
  }

  private async makeParts(parts: readonly ImportPart[], ownerId: string, importId: string, cause: Cause): Promise<void> {
    const workflows = parts.filter(({ kind }) => kind === 'workflow');
    let position: bigint | undefined;
    const make = async (part: ImportPart) => {
      const at = await this.make(part, ownerId, importId, cause);
      if (at !== undefined && (position === undefined || at > position)) position = at;
    };
    const [failure] = await collectFailures(
      parts.filter((part) => !workflows.includes(part)),
      make,
      PARTS_AT_ONCE_MAX,
    );
    if (failure !== undefined) throw failure as Error;
    if (position !== undefined) await requireReached(this.freshness, ['tools', 'prompts', 'custom-models'], position);
    // What its nodes refer to has to be there.
    for (const workflow of workflows) await make(workflow);
    if (workflows.length > 0 && position !== undefined) await requireReached(this.freshness, ['workflows'], position);
  }

  /** One that another agent began to use meanwhile stays. */
  private async deleteWorkflow(workflowId: string, ownerId: string, agentId: AgentId, cause: Cause): Promise<bigint | undefined> {
    return this.commands.execute(new DeleteWorkflow(workflowId, ownerId, cause, agentId)).catch((error: unknown) => {
      if (!(error instanceof Rejection)) throw error;
      return undefined;
    });
  }

  private async make(part: ImportPart, ownerId: string, importId: string, cause: Cause): Promise<bigint | undefined> {
    switch (part.kind) {
      case 'tool':
        return this.commands.execute(new ImportTool(part.id, ownerId, part.definition, importId, cause));
      case 'prompt': {
        const imported = { promptId: part.id, importId };
        const prompt = new CreatePrompt(ownerId, { name: part.name, content: part.content }, cause, imported);
        return (await this.commands.execute(prompt)).position;
      }
      case 'model':
        return this.commands.execute(new ImportCustomModel(part.id, ownerId, part.definition, importId, cause));
      case 'workflow': {
        const { id, isNew, name, description, graph } = part;
        const content = { name, description, graph };
        const Saving = isNew ? CreateWorkflow : ChangeWorkflow;
        return (await this.commands.execute(new Saving(id, ownerId, content, cause))).position;
      }
    }
  }
}
