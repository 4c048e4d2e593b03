import { CommandHandler } from '@nestjs/cqrs';
import { AgentQueries } from '../../../projections/agents/agents.queries.js';
import { Clock } from '../../kernel/clock.js';
import { Command, type Handler } from '../../kernel/commands.js';
import type { Cause } from '../../kernel/event-sourcing/events.js';
import { Streams } from '../../kernel/event-sourcing/streams.js';
import { Rejection } from '../../kernel/rejection.js';
import { WorkflowGraphs } from './workflow-graphs.port.js';
import { WorkflowReferences } from './workflow-references.js';
import { change, create, remove, takeIn, workflow } from './workflow.decider.js';
import { type WorkflowId, workflowStream } from './workflow.events.js';
import type { WorkflowGraph } from './workflow-graph.policy.js';

export type WorkflowText = Readonly<{ name: string; description: string }>;

/** `position` is undefined if nothing was written. */
export type WorkflowSaved = Readonly<{ workflowId: WorkflowId; position: bigint | undefined }>;

/** A user saves a checked graph as a new workflow. The caller chooses the id, so a repeated command creates one workflow. */
export class CreateWorkflow extends Command<WorkflowSaved> {
  constructor(
    readonly workflowId: WorkflowId,
    readonly ownerId: string,
    readonly content: WorkflowText & Readonly<{ graph: WorkflowGraph }>,
    readonly cause: Cause,
  ) {
    super();
  }
}

@CommandHandler(CreateWorkflow)
class CreateWorkflowHandler implements Handler<CreateWorkflow> {
  constructor(
    private readonly streams: Streams,
    private readonly clock: Clock,
    private readonly graphs: WorkflowGraphs,
    private readonly references: WorkflowReferences,
  ) {}

  async execute({ workflowId, ownerId, content, cause }: CreateWorkflow): Promise<WorkflowSaved> {
    await this.references.refuseInaccessible(ownerId, content.graph, undefined);
    const graph = await this.graphs.store(workflowId, content.graph);
    const decision = create(workflowId, ownerId, { ...content, graph }, this.clock.now());
    const { position } = await this.streams.transact(workflowStream(workflowId), workflow, decision, cause);
    return { workflowId, position };
  }
}

/**
 * The owner or an editor replaces a workflow. Equal content changes nothing; a different (checked) graph becomes a new version.
 */
export class ChangeWorkflow extends Command<WorkflowSaved> {
  constructor(
    readonly workflowId: WorkflowId,
    readonly ownerId: string,
    readonly content: Partial<WorkflowText & Readonly<{ graph: WorkflowGraph }>>,
    readonly cause: Cause,
    readonly editorId = ownerId,
  ) {
    super();
  }
}

@CommandHandler(ChangeWorkflow)
class ChangeWorkflowHandler implements Handler<ChangeWorkflow> {
  constructor(
    private readonly streams: Streams,
    private readonly clock: Clock,
    private readonly graphs: WorkflowGraphs,
    private readonly references: WorkflowReferences,
  ) {}

  async execute({ workflowId, ownerId, content, cause, editorId }: ChangeWorkflow): Promise<WorkflowSaved> {
    const stream = workflowStream(workflowId);
    const known = await this.streams.fold(stream, workflow);
    const { graph, ...text } = content;
    let wanted = {};
    if (graph && known.state.status === 'there') {
      const { version } = known.state.content;
      const before = await this.graphs.graphAt(workflowId, version);
      await this.references.refuseInaccessible(ownerId, graph, before, editorId);
      wanted = { graph: await this.graphs.store(workflowId, graph) };
    }
    const decision = change(ownerId, { ...text, ...wanted }, this.clock.now());
    const { position } = await this.streams.transact(stream, workflow, decision, cause, known);
    return { workflowId, position };
  }
}

/**
 * An import of an agent adds a checked graph, as a new workflow or as the next version of an existing one. Agents run it once the
 * agent's stream records the import. The references of its nodes were resolved when the import was accepted; what was deleted
 * since is missing. Repeating the command has no effect.
 */
export class ImportWorkflow extends Command<bigint | undefined> {
  constructor(
    readonly workflowId: WorkflowId,
    readonly ownerId: string,
    readonly content: WorkflowText & Readonly<{ graph: WorkflowGraph }>,
    readonly importId: string,
    readonly cause: Cause,
  ) {
    super();
  }
}

@CommandHandler(ImportWorkflow)
class ImportWorkflowHandler implements Handler<ImportWorkflow> {
  constructor(
    private readonly streams: Streams,
    private readonly clock: Clock,
    private readonly graphs: WorkflowGraphs,
  ) {}

  async execute({ workflowId, ownerId, content, importId, cause }: ImportWorkflow): Promise<bigint | undefined> {
    const graph = await this.graphs.store(workflowId, content.graph);
    const decision = takeIn(workflowId, ownerId, importId, { ...content, graph }, this.clock.now());
    return (await this.streams.transact(workflowStream(workflowId), workflow, decision, cause)).position;
  }
}

type AgentName = Readonly<{ id: string; name: string }>;

/**
 * The owner deletes a workflow. Refused while an agent other than `leavingAgentId`, which is being changed or deleted, uses it;
 * the refusal names those agents that are `visible` to the caller.
 * An agent that starts to use it at the same moment is left without a workflow and reports that when it is asked.
 */
export class DeleteWorkflow extends Command<bigint | undefined> {
  constructor(
    readonly workflowId: WorkflowId,
    readonly ownerId: string,
    readonly cause: Cause,
    readonly leavingAgentId?: string,
    readonly visible: (agents: readonly AgentName[]) => readonly AgentName[] = (agents) => agents,
  ) {
    super();
  }
}

@CommandHandler(DeleteWorkflow)
class DeleteWorkflowHandler implements Handler<DeleteWorkflow> {
  constructor(
    private readonly streams: Streams,
    private readonly clock: Clock,
    private readonly agents: AgentQueries,
  ) {}

  async execute({ workflowId, ownerId, cause, leavingAgentId, visible }: DeleteWorkflow): Promise<bigint | undefined> {
    const users = await this.agents.usingWorkflow(ownerId, workflowId);
    const others = users.filter(({ id }) => id !== leavingAgentId).map(({ id, configuration: { name } }) => ({ id, name }));
    if (others.length > 0) throw inUse(others.length, visible(others));
    const decision = remove(ownerId, this.clock.now());
    return (await this.streams.transact(workflowStream(workflowId), workflow, decision, cause)).position;
  }
}

function inUse(count: number, named: readonly AgentName[]): Rejection {
  const one = named[0] ? `the agent "${named[0].name}"` : 'an agent';
  const text = `The workflow is used by ${count === 1 ? one : `${count} agents`}`;
  return new Rejection('workflow-in-use', text, { error: text, code: 'workflow_in_use', agents: named });
}

export const workflowHandlers = [ChangeWorkflowHandler, CreateWorkflowHandler, DeleteWorkflowHandler, ImportWorkflowHandler];
