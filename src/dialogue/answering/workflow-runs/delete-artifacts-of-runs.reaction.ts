import { Injectable } from '@nestjs/common';
import { Commands } from '../../../kernel/commands.js';
import type { Codec } from '../../../kernel/event-sourcing/codec.js';
import { causedBy, type Recorded } from '../../../kernel/event-sourcing/events.js';
import type { Reaction } from '../../../kernel/event-sourcing/reaction.js';
import { Rejection } from '../../../kernel/rejection.js';
import { DeleteArtifact } from '../../../resources/artifacts/artifact.commands.js';
import { workflowRunCodec } from './run/workflow-run.codec.js';
import type { WorkflowRunPurged } from './run/workflow-run.events.js';

/** What the steps of a purged run have made goes with it. One step for each artifact; a crash repeats it for those that are left. */
@Injectable()
export class DeleteArtifactsOfRuns implements Reaction<WorkflowRunPurged> {
  readonly name = 'delete-artifacts-of-runs';
  readonly categories = ['workflowRun'];
  readonly codec: Codec<WorkflowRunPurged> = workflowRunCodec;
  readonly on = { WorkflowRunPurged: (event: Recorded<WorkflowRunPurged>) => this.deleteAll(event) };

  constructor(private readonly commands: Commands) {}

  private async deleteAll(event: Recorded<WorkflowRunPurged>): Promise<void> {
    const { artifactIds, ownerId } = event.data;
    const cause = causedBy(event, `system:${this.name}`);
    for (const artifactId of artifactIds)
      await this.commands.execute(new DeleteArtifact(artifactId, ownerId, cause)).catch(unlessGone);
  }
}

/** Its owner has deleted it before. */
function unlessGone(error: unknown): void {
  if (!(error instanceof Rejection) || error.code !== 'artifact-not-found') throw error;
}
