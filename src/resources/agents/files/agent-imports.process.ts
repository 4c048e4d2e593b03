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
import { DeleteWorkflow, ImportWorkflow } from '../../workflows/workflow.commands.js';
import { ImportIntoAgent } from '../agent.commands.js';
import type { WorkflowId } from '../../workflows/workflow.events.js';
import { agent } from '../agent.decider.js';
import { type AgentId, agentStream, type AgentStatus } from '../agent.events.js';
import { agentImport, type AgentImportState } from './agent-import.decider.js';
import { FinishAgentImport } from './agent-import.commands.js';
import { type AgentImportId, agentImportStream, type ImportPart } from './agent-import.events.js';
import { ReleaseAgentSlugs, ReserveAgentSlug } from './agent-slugs.commands.js';

const PARTS_AT_ONCE_MAX = 16;

/** The result of an import. */
export type ImportOutcome = AppliedImport &
  Readonly<{ action: 'created' | 'updated'; agentType: string; warnings: readonly string[] }>;

/**
 * Completes accepted imports. Steps:
 * 1. Create the parts, which listings do not show yet, with the workflow last.
 * 2. Wait until the read models include them.
 * 3. Reserve the slug.
 * 4. Create or change the agent in one append. From this event on, listings show the parts, and runs use the new workflow version.
 * 5. Release the agent's previous slug.
 * 6. Delete its previous workflow.
 * 7. Record the end.
 * All ids are derived from the import, and a step that is repeated has no effect, so a restart after a crash repeats them safely.
 * After step 4, steps 1 to 4 are not repeated. If the agent or its workflow was deleted after the acceptance, the import creates a
 * new one.
 */
@Injectable()
export class AgentImports {
  constructor(
    private readonly streams: Streams,
    private readonly commands: Commands,
    private readonly freshness: Freshness,
  ) {}

  /** Undefined if the import is not accepted. @throws ReadModelsBehind */
  async complete(importId: AgentImportId, cause: Cause): Promise<ImportOutcome | undefined> {
    const { state } = await this.streams.fold(agentImportStream(importId), agentImport);
    return state.accepted ? this.completeAccepted(state, state.accepted, cause) : undefined;
  }

  private async completeAccepted(state: AgentImportState, accepted: Accepted, cause: Cause): Promise<ImportOutcome> {
    const { importId, ownerId, action, slug, deletes, imported, warnings } = accepted;
    const applied = (await this.said(accepted)) ?? (await this.makeAndApply(state, accepted, cause));
    let { position } = applied;
    if (state.status !== 'finished') {
      if (slug !== null) await this.commands.execute(new ReleaseAgentSlugs(ownerId, applied.agentId, applied.slug, cause));
      // Only after the agent's event does the agent no longer use the workflow.
      if (deletes !== null) position = (await this.deleteWorkflow(deletes, ownerId, applied.agentId, cause)) ?? position;
      await this.commands.execute(new FinishAgentImport(importId, applied.agentId, cause));
    }
    return {
      ...applied,
      position,
      action: applied.agentId === accepted.agentId ? action : 'created',
      agentType: imported.agentType,
      warnings,
    };
  }

  /** The agent, if the import has been applied to it. Later changes to the agent or to the parts are not undone. */
  private async said({ importId, agentId: meant }: Accepted): Promise<AppliedImport | undefined> {
    for (const agentId of [meant, insteadOf(importId)]) {
      const { state, position } = await this.streams.fold(agentStream(agentId), agent);
      if (!state.imports.has(importId)) continue;
      const status = state.status === 'published' ? 'published' : 'draft';
      return { agentId, status, slug: state.configuration!.slug, position };
    }
    return undefined;
  }

  private async makeAndApply(state: AgentImportState, accepted: Accepted, cause: Cause): Promise<AppliedImport> {
    const { importId, ownerId, agentId } = accepted;
    const workflowId = await this.makeParts(state.parts, ownerId, importId, cause);
    try {
      return await this.apply(agentId, state, accepted, workflowId, cause);
    } catch (error) {
      if (!(error instanceof Rejection) || error.code !== 'agent-not-found') throw error;
    }
    // The agent and its workflow were deleted in the meantime. A new draft with a new workflow replaces them.
    const workflow = state.parts.find((part) => part.kind === 'workflow');
    const anew = workflow && (await this.makeAnew(workflow, ownerId, importId, cause));
    return this.apply(insteadOf(importId), state, accepted, anew, cause);
  }

  private async apply(
    agentId: AgentId,
    { parts }: AgentImportState,
    { importId, ownerId, slug: wanted, imported: asAccepted }: Accepted,
    workflowId: WorkflowId | undefined,
    cause: Cause,
  ): Promise<AppliedImport> {
    const imported = workflowId === undefined ? asAccepted : { ...asAccepted, workflowId };
    const slug = wanted === null ? undefined : await this.commands.execute(new ReserveAgentSlug(ownerId, agentId, wanted, cause));
    const change = { importId, imported, slug, hasParts: parts.length > 0 };
    try {
      return { agentId, ...(await this.commands.execute(new ImportIntoAgent(agentId, ownerId, change, cause))) };
    } catch (error) {
      if (error instanceof Rejection) await this.commands.execute(new ReleaseAgentSlugs(ownerId, agentId, undefined, cause));
      throw error;
    }
  }

  /** Creates all parts. Resolves to the id of the agent's workflow, if the import has one. */
  private async makeParts(
    parts: readonly ImportPart[],
    ownerId: string,
    importId: string,
    cause: Cause,
  ): Promise<WorkflowId | undefined> {
    const workflow = parts.find((part) => part.kind === 'workflow');
    let position: bigint | undefined;
    const make = async (part: ImportPart) => {
      const at = await this.make(part, ownerId, importId, cause);
      if (at !== undefined && (position === undefined || at > position)) position = at;
    };
    const [failure] = await collectFailures(
      parts.filter((part) => part !== workflow),
      make,
      PARTS_AT_ONCE_MAX,
    );
    if (failure !== undefined) throw failure as Error;
    if (position !== undefined) await requireReached(this.freshness, ['tools', 'prompts', 'custom-models'], position);
    if (!workflow) return undefined;
    try {
      position = await this.make(workflow, ownerId, importId, cause);
    } catch (error) {
      if (!(error instanceof Rejection) || error.code !== 'workflow-not-found') throw error;
      return this.makeAnew(workflow, ownerId, importId, cause);
    }
    if (position !== undefined) await requireReached(this.freshness, ['workflows'], position);
    return workflow.id;
  }

  /** Creates a new workflow, because the one that was to get a new version has been deleted. */
  private async makeAnew(part: WorkflowPart, ownerId: string, importId: string, cause: Cause): Promise<WorkflowId> {
    const id = deterministicId('imported-workflow', importId);
    const position = await this.make({ ...part, id }, ownerId, importId, cause);
    if (position !== undefined) await requireReached(this.freshness, ['workflows'], position);
    return id;
  }

  /** Deletes the workflow, unless another agent has started to use it. */
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
        const { id, name, description, graph } = part;
        return this.commands.execute(new ImportWorkflow(id, ownerId, { name, description, graph }, importId, cause));
      }
    }
  }
}

/** The id of the agent that replaces a deleted one. */
const insteadOf = (importId: AgentImportId): AgentId => deterministicId('imported-agent', importId);

type Accepted = NonNullable<AgentImportState['accepted']>;

type AppliedImport = Readonly<{ agentId: AgentId; status: AgentStatus; slug: string; position: bigint | undefined }>;

type WorkflowPart = Extract<ImportPart, { kind: 'workflow' }>;
