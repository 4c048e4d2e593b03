import { Injectable } from '@nestjs/common';
import { Commands } from '../../kernel/commands.js';
import type { Codec } from '../../kernel/event-sourcing/codec.js';
import { causedBy, type Recorded } from '../../kernel/event-sourcing/events.js';
import type { Reaction } from '../../kernel/event-sourcing/reaction.js';
import { PurgeTask } from '../../work/tasks/task.commands.js';
import { runCodec } from './run.codec.js';
import type { RunPurged } from './run.events.js';

/**
 * Purges the task of a purged run. One step; after a crash before the checkpoint it is repeated without effect.
 */
@Injectable()
export class PurgeTasksOfRuns implements Reaction<RunPurged> {
  readonly name = 'purge-tasks-of-runs';
  readonly categories = ['run'];
  readonly codec: Codec<RunPurged> = runCodec;
  readonly on = { RunPurged: (event: Recorded<RunPurged>) => this.purge(event) };

  constructor(private readonly commands: Commands) {}

  private purge(event: Recorded<RunPurged>): Promise<void> {
    return this.commands.execute(new PurgeTask(event.data.runId, causedBy(event, `system:${this.name}`)));
  }
}
