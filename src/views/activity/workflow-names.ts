import { Injectable } from '@nestjs/common';
import { AgentNameQueries } from '../../../projections/agents/agent-names.queries.js';
import { WorkflowQueries } from '../../../projections/workflows/workflows.queries.js';
import { NAMELESS_WORKFLOW } from './history-rows.js';

type Run = Readonly<{ agentId: string | null; workflowId: string | null }>;
type Names = ReadonlyMap<string, string>;

/** The titles of a user's workflow runs: the name of the agent that ran, or else of the workflow that was tried out. */
export class RunTitles {
  constructor(
    readonly agents: Names,
    private readonly workflows: Names,
  ) {}

  of({ agentId, workflowId }: Run): string {
    return this.agents.get(agentId ?? '') ?? this.workflows.get(workflowId ?? '') ?? NAMELESS_WORKFLOW;
  }

  /** The agents and workflows whose names contain a text in any case. */
  containing(text: string): Readonly<{ agentIds: readonly string[]; workflowIds: readonly string[] }> {
    const idsIn = (names: Names) =>
      [...names].flatMap(([id, name]) => (name.toLowerCase().includes(text.toLowerCase()) ? [id] : []));
    return { agentIds: idsIn(this.agents), workflowIds: idsIn(this.workflows) };
  }
}

export const NO_TITLES = new RunTitles(new Map(), new Map());

@Injectable()
export class WorkflowNames {
  constructor(
    private readonly agents: AgentNameQueries,
    private readonly workflows: WorkflowQueries,
  ) {}

  async titlesOf(ownerId: string): Promise<RunTitles> {
    return new RunTitles(...(await Promise.all([this.agents.ownedBy(ownerId), this.workflows.namesOf(ownerId)])));
  }
}
