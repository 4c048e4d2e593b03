import { Injectable } from '@nestjs/common';
import type { AgentRecord } from '../../../../projections/agents/agents.queries.js';
import { WorkflowQueries } from '../../../../projections/workflows/workflows.queries.js';
import { isId } from '../../../kernel/ids.js';
import { Rejection } from '../../../kernel/rejection.js';
import { reached } from '../../../resources/identity/access.policy.js';
import { type Caller, ownerOf } from '../../../resources/identity/caller.js';
import { GraphValidation } from '../../../resources/workflows/graph-validation.port.js';
import type { PinnedWorkflow } from '../../../resources/workflows/workflow.events.js';
import type { QuestionRequest } from './question.dto.js';

/** Maximum size of a graph that is sent with a question, because the event of the question contains it. */
const DRAFT_BYTES_MAX = 256 * 1024;

/** Pins the graph that a question runs: the newest version of the agent's workflow, or the graph sent with the question. */
@Injectable()
export class WorkflowPins {
  constructor(
    private readonly workflows: WorkflowQueries,
    private readonly validation: GraphValidation,
  ) {}

  /**
   * Undefined if the question runs no workflow.
   * @throws Rejection agent-without-workflow, workflow-not-valid, workflow-not-found, invalid-request, too-large
   */
  async pin(request: QuestionRequest, caller: Caller, agent: AgentRecord | undefined): Promise<PinnedWorkflow | undefined> {
    if (!request.workflow) return agent?.configuration.agentType === 'workflow' ? this.ofAgent(agent) : undefined;
    if (agent) throw new Rejection('invalid-request', 'workflow cannot be sent together with an agent');
    return this.draft(request.workflow, request.workflow_id || null, caller);
  }

  private async ofAgent({ ownerId, configuration: { workflowId } }: AgentRecord): Promise<PinnedWorkflow> {
    const workflow = workflowId && isId(workflowId) ? await this.workflows.byId(workflowId) : undefined;
    if (workflow?.ownerId === ownerId) return { id: workflow.id, version: workflow.version };
    throw new Rejection('agent-without-workflow', 'This agent has no workflow, or its workflow was deleted. Choose one for it.');
  }

  private async draft(
    { nodes, edges }: Readonly<Record<string, unknown>>,
    id: string | null,
    caller: Caller,
  ): Promise<PinnedWorkflow> {
    if (id !== null) reached(caller, isId(id) ? await this.workflows.byId(id) : undefined, notFound, 'workflows');
    const graph = await this.validation.usable(ownerOf(caller), nodes, edges);
    if (Buffer.byteLength(JSON.stringify(graph)) > DRAFT_BYTES_MAX)
      throw new Rejection(
        'too-large',
        `A workflow of more than ${DRAFT_BYTES_MAX} bytes has to be saved before it is tried out.`,
      );
    return { id, draft: { inline: graph } };
  }
}

const notFound = () => new Rejection('workflow-not-found', 'Workflow not found');
