import { Injectable } from '@nestjs/common';
import { WorkflowRunQueries } from '../../../../projections/workflow-runs/workflow-runs.queries.js';
import { Commands } from '../../../kernel/commands.js';
import { eachOf } from '../../../kernel/each-of.js';
import type { Codec } from '../../../kernel/event-sourcing/codec.js';
import { causedBy, type Recorded } from '../../../kernel/event-sourcing/events.js';
import { Freshness, requireReached } from '../../../kernel/event-sourcing/freshness.js';
import type { Reaction } from '../../../kernel/event-sourcing/reaction.js';
import { workflowCodec } from '../../../resources/workflows/workflow.codec.js';
import type { WorkflowDeleted } from '../../../resources/workflows/workflow.events.js';
import { PurgeWorkflowRun } from './run/workflow-run.commands.js';

const RUNS_PER_PAGE = 500;

/**
 * Purges the runs of a deleted workflow. Steps: wait until the read model lists all earlier runs; purge those that have ended,
 * page by page. After a crash the remaining runs are purged. The retention rule purges running ones after they have ended.
 */
@Injectable()
export class PurgeRunsOfWorkflow implements Reaction<WorkflowDeleted> {
  readonly name = 'purge-runs-of-workflow';
  readonly categories = ['workflow'];
  readonly codec: Codec<WorkflowDeleted> = workflowCodec;
  readonly on = { WorkflowDeleted: (event: Recorded<WorkflowDeleted>) => this.purgeAll(event) };

  constructor(
    private readonly commands: Commands,
    private readonly runs: WorkflowRunQueries,
    private readonly freshness: Freshness,
  ) {}

  private async purgeAll(event: Recorded<WorkflowDeleted>): Promise<void> {
    await requireReached(this.freshness, ['workflow-runs'], event.position);
    const cause = causedBy(event, `system:${this.name}`);
    let last: string | undefined;
    do {
      const page: readonly string[] = await this.runs.overOf(event.data.workflowId, RUNS_PER_PAGE, last);
      await eachOf(page, (workflowRunId) => this.commands.execute(new PurgeWorkflowRun(workflowRunId, cause)));
      last = page.at(-1);
    } while (last !== undefined);
  }
}
