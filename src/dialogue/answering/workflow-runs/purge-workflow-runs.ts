import { Injectable } from '@nestjs/common';
import { type PurgeableRun, WorkflowRunQueries } from '../../../../projections/workflow-runs/workflow-runs.queries.js';
import { Commands } from '../../../kernel/commands.js';
import { eachOf } from '../../../kernel/each-of.js';
import type { Cause } from '../../../kernel/event-sourcing/events.js';
import type { RetentionRule } from '../../../work/retention/retention-rule.port.js';
import { PurgeWorkflowRun } from './run/workflow-run.commands.js';

/**
 * Purges ended runs of deleted workflows, including those that were running when the workflow was deleted. Other runs are kept.
 */
@Injectable()
export class PurgeWorkflowRuns implements RetentionRule<PurgeableRun> {
  readonly name = 'runs of deleted workflows';

  constructor(
    private readonly runs: WorkflowRunQueries,
    private readonly commands: Commands,
  ) {}

  due(_now: Date, limit: number, after?: PurgeableRun): Promise<readonly PurgeableRun[]> {
    return this.runs.ofDeletedWorkflows(limit, after);
  }

  purge(due: readonly PurgeableRun[], cause: Cause): Promise<void> {
    return eachOf(due, ({ id }) => this.commands.execute(new PurgeWorkflowRun(id, cause)));
  }
}
