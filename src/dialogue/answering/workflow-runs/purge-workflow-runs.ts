import { Injectable } from '@nestjs/common';
import { type PurgeableRun, WorkflowRunQueries } from '../../../../projections/workflow-runs/workflow-runs.queries.js';
import { Commands } from '../../../kernel/commands.js';
import { eachOf } from '../../../kernel/each-of.js';
import type { Cause } from '../../../kernel/event-sourcing/events.js';
import type { RetentionRule } from '../../../work/retention/retention-rule.port.js';
import { PurgeWorkflowRun } from './run/workflow-run.commands.js';

/** Runs whose workflow is gone, among them those that were under way when it was deleted. Others are kept. */
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
