import { Module, type OnApplicationShutdown } from '@nestjs/common';
import { AgentQueries } from '../../../projections/agents/agents.queries.js';
import { SourceQueries } from '../../../projections/sources/sources.queries.js';
import { ToolQueries } from '../../../projections/tools/tools.queries.js';
import { WorkflowQueries } from '../../../projections/workflows/workflows.queries.js';
import { PromptsModule } from '../prompts/prompts.module.js';
import { CheckedGraphs } from './checked-graphs.js';
import { GuardedExpressions } from './expressions/guarded-expressions.js';
import { Expressions } from './expressions/expressions.port.js';
import { GraphValidation } from './graph-validation.port.js';
import { StoredWorkflowGraphs } from './stored-workflow-graphs.js';
import { workflowHandlers } from './workflow.commands.js';
import { WorkflowGraphs } from './workflow-graphs.port.js';
import { WorkflowReferences } from './workflow-references.js';
import { WorkflowsController } from './workflows.http.js';
import { workflowsRejections } from './workflows.rejections.js';

@Module({
  imports: [PromptsModule],
  controllers: [WorkflowsController],
  providers: [
    AgentQueries,
    SourceQueries,
    ToolQueries,
    WorkflowQueries,
    WorkflowReferences,
    { provide: GuardedExpressions, useFactory: () => new GuardedExpressions() },
    { provide: Expressions, useExisting: GuardedExpressions },
    { provide: GraphValidation, useClass: CheckedGraphs },
    { provide: WorkflowGraphs, useClass: StoredWorkflowGraphs },
    ...workflowHandlers,
  ],
  exports: [Expressions, GraphValidation, WorkflowGraphs, WorkflowQueries],
})
export class WorkflowsModule implements OnApplicationShutdown {
  static readonly rejections = workflowsRejections;

  constructor(private readonly expressions: GuardedExpressions) {}

  /** Closed after the turns that are finished during the shutdown, because these still evaluate expressions. */
  onApplicationShutdown(): Promise<void> {
    return this.expressions.close();
  }
}
