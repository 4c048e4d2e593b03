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

/** A position is missing where nothing had to be written. */
export type WorkflowSaved = Readonly<{ workflowId: WorkflowId; position: bigint | undefined }>;

/** A user keeps a graph that was checked. With an id of the caller's, a repetition makes no second workflow. */
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
export class CreateWorkflowHandler implements Handler<CreateWorkflow> {
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

/** A workflow's owner, or an editor, replaces it. The same content again is no change; a checked graph that says something else is a new version. */
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
export class ChangeWorkflowHandler implements Handler<ChangeWorkflow> {
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
 * An import of an agent brings a checked graph along: a new workflow, or the next version of one, which is run from the agent's own
 * event on. What its nodes name was resolved when the import was accepted; what was deleted since they do without. Repeated it does
 * nothing.
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
export class ImportWorkflowHandler implements Handler<ImportWorkflow> {
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

/**
 * A workflow's owner throws it away. Refused while an agent uses it, but for one that is being changed or deleted. An agent
 * that begins to use it in the same moment is left without one, and says so when it is asked.
 */
export class DeleteWorkflow extends Command<bigint | undefined> {
  constructor(
    readonly workflowId: WorkflowId,
    readonly ownerId: string,
    readonly cause: Cause,
    readonly leavingAgentId?: string,
  ) {
    super();
  }
}

@CommandHandler(DeleteWorkflow)
export class DeleteWorkflowHandler implements Handler<DeleteWorkflow> {
  constructor(
    private readonly streams: Streams,
    private readonly clock: Clock,
    private readonly agents: AgentQueries,
  ) {}

  async execute({ workflowId, ownerId, cause, leavingAgentId }: DeleteWorkflow): Promise<bigint | undefined> {
    const users = await this.agents.usingWorkflow(ownerId, workflowId);
    const others = users.filter(({ id }) => id !== leavingAgentId);
    if (others.length > 0) throw inUse(others.map(({ id, configuration: { name } }) => ({ id, name })));
    const decision = remove(ownerId, this.clock.now());
    return (await this.streams.transact(workflowStream(workflowId), workflow, decision, cause)).position;
  }
}

function inUse(agents: readonly Readonly<{ id: string; name: string }>[]): Rejection {
  const text = `The workflow is used by ${agents.length === 1 ? `the agent "${agents[0]!.name}"` : `${agents.length} agents`}`;
  return new Rejection('workflow-in-use', text, { error: text, code: 'workflow_in_use', agents });
}
