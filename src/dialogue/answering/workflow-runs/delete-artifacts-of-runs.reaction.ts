import { Injectable } from '@nestjs/common';
import { Commands } from '../../../kernel/commands.js';
import type { Codec } from '../../../kernel/event-sourcing/codec.js';
import { causedBy, type Recorded } from '../../../kernel/event-sourcing/events.js';
import type { Reaction } from '../../../kernel/event-sourcing/reaction.js';
import { DeleteArtifact } from '../../../resources/artifacts/artifact.commands.js';
import { workflowRunCodec } from './run/workflow-run.codec.js';
import type { WorkflowRunPurged } from './run/workflow-run.events.js';

/** Deletes the artifacts of a purged run, one by one. After a crash the remaining artifacts are deleted. */
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
    for (const artifactId of artifactIds) await this.commands.execute(new DeleteArtifact(artifactId, ownerId, cause));
  }
}
