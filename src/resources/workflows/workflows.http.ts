import { Body, Controller, Delete, Get, Param, Post, Put } from '@nestjs/common';
import { ApiOperation, ApiProperty, ApiTags } from '@nestjs/swagger';
import { IsArray, IsOptional, IsString, Matches, MaxLength } from 'class-validator';
import { type WorkflowRecord, WorkflowQueries } from '../../../projections/workflows/workflows.queries.js';
import { type ResourceAction, inPath } from '../../kernel/access.js';
import { Commands } from '../../kernel/commands.js';
import { isId, newId } from '../../kernel/ids.js';
import { Access } from '../../platform/http/access.js';
import { DocumentedBody } from '../../platform/http/documented.js';
import { requireAccess, visible } from '../identity/access.policy.js';
import type { SignedInUser } from '../identity/caller.js';
import { Reaching } from '../identity/reaching.js';
import { CurrentUser } from '../identity/identity.http.js';
import { GraphValidation } from './graph-validation.port.js';
import { referencesIn } from './node-references.policy.js';
import { workflowNotFound } from './workflow.decider.js';
import { ChangeWorkflow, CreateWorkflow, DeleteWorkflow } from './workflow.commands.js';
import type { WorkflowGraph } from './workflow-graph.policy.js';
import { WorkflowGraphs } from './workflow-graphs.port.js';
import { workflowRecord } from './workflow-record.http.js';
import { WorkflowReferences } from './workflow-references.js';
import { type Confirm, Confirms } from '../confirmed-writes.http.js';

const NAME_CHARACTERS_MAX = 200;
const DESCRIPTION_CHARACTERS_MAX = 10_000;

/** Required in the reference only: the check of the graph refuses a workflow without it, with the graph's other problems. */
const NotEmpty = ApiProperty({ required: true, nullable: false, minItems: 1 });

/** The complete content of a workflow. */
export class WorkflowBody {
  @IsString() @Matches(/\S/, { message: 'name must not be blank' }) @MaxLength(NAME_CHARACTERS_MAX) name!: string;
  @IsOptional() @IsString() @MaxLength(DESCRIPTION_CHARACTERS_MAX) description?: string | null;

  /**
   * `{id, type, title, description, position: {x, y}, data}`; `data` holds the settings of the node, directly or in
   * `data.config`.
   */
  @NotEmpty @IsOptional() @IsArray() nodes?: unknown[] | null;

  /** `{id, source, target, sourceHandle, targetHandle}` */
  @NotEmpty @IsOptional() @IsArray() edges?: unknown[] | null;
}

const EXAMPLE = {
  name: 'Answer and check',
  nodes: [
    { id: 'start', type: 'start', title: 'Start', position: { x: 0, y: 0 }, data: {} },
    { id: 'agent', type: 'agent', title: 'Answer', position: { x: 200, y: 0 }, data: { prompt_template: '{{ agent.query }}' } },
    { id: 'end', type: 'end', title: 'End', position: { x: 400, y: 0 }, data: {} },
  ],
  edges: [
    { id: 'e1', source: 'start', target: 'agent' },
    { id: 'e2', source: 'agent', target: 'end' },
  ],
};

const ID = inPath('id');
/** Nodes can use resources of these kinds, so a token that is restricted in one of them must not write workflows. */
const PARTS = ['sources', 'tools', 'prompts'] as const;

/** A user's workflows: the graphs that agents of the type `workflow` run. */
@ApiTags('Workflows')
@Controller('api/workflows')
export class WorkflowsController {
  constructor(
    private readonly commands: Commands,
    private readonly workflows: WorkflowQueries,
    private readonly graphs: WorkflowGraphs,
    private readonly validation: GraphValidation,
    private readonly references: WorkflowReferences,
    private readonly reaching: Reaching,
  ) {}

  @ApiOperation({ summary: 'Creates a workflow; if it is invalid, `errors` lists all problems' })
  @DocumentedBody({ type: WorkflowBody }, EXAMPLE)
  @Access({ for: 'user', action: 'create', of: 'workflows', scopes: ['workflows:write'], closedToRestricted: PARTS })
  @Post()
  async create(@CurrentUser() user: SignedInUser, @Confirms('workflows') confirm: Confirm, @Body() body: WorkflowBody) {
    const content = await this.contentOf(user, body);
    const { workflowId, position } = await this.commands.execute(new CreateWorkflow(newId(), user.userId, content, user.cause));
    await confirm(position);
    return { success: true, data: { id: workflowId } };
  }

  @ApiOperation({ summary: 'A workflow with its newest graph, and the tools and sources that its nodes use' })
  @Access({ for: 'user', action: 'read', of: 'workflows', scopes: ['workflows:read'], at: ID, granted: 'view' })
  @Get(':id')
  async one(@CurrentUser() user: SignedInUser, @Param('id') id: string) {
    const workflow = await this.reached(user, id, 'view');
    const graph = await this.graphs.graphAt(workflow.id, workflow.version);
    if (!graph) throw workflowNotFound();
    return { success: true, data: workflowRecord(workflow, graph, await this.references.of(workflow.ownerId, graph)) };
  }

  @ApiOperation({ summary: 'Replaces a workflow; runs that have started keep their graph' })
  @DocumentedBody({ type: WorkflowBody }, EXAMPLE)
  @Access({
    for: 'user',
    action: 'change',
    of: 'workflows',
    scopes: ['workflows:write'],
    at: ID,
    closedToRestricted: PARTS,
    granted: 'edit',
  })
  @Put(':id')
  async change(
    @CurrentUser() user: SignedInUser,
    @Confirms('workflows') confirm: Confirm,
    @Param('id') id: string,
    @Body() body: WorkflowBody,
  ) {
    const workflow = await this.reached(user, id, 'edit');
    const content = await this.contentOf(user, body, workflow.ownerId);
    const change = new ChangeWorkflow(workflow.id, workflow.ownerId, content, user.cause, user.userId);
    await confirm((await this.commands.execute(change)).position);
    return { success: true };
  }

  @ApiOperation({ summary: 'Deletes a workflow that no agent uses' })
  @Access({ for: 'user', action: 'delete', of: 'workflows', scopes: ['workflows:write'], at: ID, closedToRestricted: PARTS })
  @Delete(':id')
  async delete(@CurrentUser() user: SignedInUser, @Confirms('workflows') confirm: Confirm, @Param('id') id: string) {
    const workflow = await this.reached(user, id);
    const deletion = new DeleteWorkflow(workflow.id, user.userId, user.cause, undefined, (agents) =>
      visible(user, 'agents', agents),
    );
    await confirm(await this.commands.execute(deletion));
    return { success: true };
  }

  /** Without `needs`, the workflow must belong to the user. */
  private async reached(user: SignedInUser, id: string, needs?: ResourceAction): Promise<WorkflowRecord> {
    const workflow = isId(id) ? await this.workflows.byId(id) : undefined;
    return this.reaching.reached(user, workflow, 'workflows', needs, workflowNotFound);
  }

  /**
   * The nodes use the tools and sources of the workflow's owner, whoever saves it. An editor may add only what the editor may
   * use.
   * @throws Rejection workflow-not-valid, with all problems
   */
  private async contentOf(user: SignedInUser, { name, description, nodes, edges }: WorkflowBody, ownerId = user.userId) {
    const graph = await this.validation.sound(ownerId, nodes, edges);
    requireReferences(user, graph);
    return { name: name.trim(), description: description ?? '', graph };
  }
}

/** @throws Rejection resource-not-allowed if a node uses something that the credential may not access */
function requireReferences(user: SignedInUser, graph: WorkflowGraph): void {
  const { tools, sources } = referencesIn(graph);
  requireAccess(user, { does: 'refer', family: 'tools', ids: tools });
  requireAccess(user, { does: 'refer', family: 'sources', ids: sources });
}
