import { Injectable } from '@nestjs/common';
import { Commands } from '../../kernel/commands.js';
import type { Codec } from '../../kernel/event-sourcing/codec.js';
import { causedBy, type Recorded } from '../../kernel/event-sourcing/events.js';
import type { Reaction } from '../../kernel/event-sourcing/reaction.js';
import { ForgetTask } from '../../work/tasks/task.commands.js';
import { runCodec } from './run.codec.js';
import type { RunForgotten } from './run.events.js';

/**
 * A run that is forgotten is forgotten as a task, too. One step; a crash before the checkpoint repeats it, and a forgotten
 * task is forgotten once.
 */
@Injectable()
export class ForgetTasksOfRuns implements Reaction<RunForgotten> {
  readonly name = 'forget-tasks-of-runs';
  readonly categories = ['run'];
  readonly codec: Codec<RunForgotten> = runCodec;
  readonly on = { RunForgotten: (event: Recorded<RunForgotten>) => this.forget(event) };

  constructor(private readonly commands: Commands) {}

  private forget(event: Recorded<RunForgotten>): Promise<void> {
    return this.commands.execute(new ForgetTask(event.data.runId, causedBy(event, `system:${this.name}`)));
  }
}
