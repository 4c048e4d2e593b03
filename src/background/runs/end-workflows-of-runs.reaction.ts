import { Injectable } from '@nestjs/common';
import { FinishWorkflowRun } from '../../dialogue/answering/workflow-runs/run/workflow-run.commands.js';
import { workflowRunIdOf } from '../../dialogue/answering/workflow-runs/run/workflow-run.events.js';
import { Commands } from '../../kernel/commands.js';
import type { Codec } from '../../kernel/event-sourcing/codec.js';
import { causedBy, type Recorded } from '../../kernel/event-sourcing/events.js';
import type { Reaction } from '../../kernel/event-sourcing/reaction.js';
import { runCodec } from './run.codec.js';
import type { RunFailed } from './run.events.js';

/**
 * Ends the workflow run of a headless run that has finally failed. One step; after a crash before the checkpoint it is repeated,
 * and a workflow run that has ended does not change.
 */
@Injectable()
export class EndWorkflowsOfRuns implements Reaction<RunFailed> {
  readonly name = 'end-workflows-of-runs';
  readonly categories = ['run'];
  readonly codec: Codec<RunFailed> = runCodec;
  readonly on = { RunFailed: (event: Recorded<RunFailed>) => this.end(event) };

  constructor(private readonly commands: Commands) {}

  private end(event: Recorded<RunFailed>): Promise<void> {
    const { runId, error } = event.data;
    const end = { status: 'failed', reason: 'interrupted', error } as const;
    return this.commands.execute(new FinishWorkflowRun(workflowRunIdOf(runId), end, causedBy(event, `system:${this.name}`)));
  }
}
