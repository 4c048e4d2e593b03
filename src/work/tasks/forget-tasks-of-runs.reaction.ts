import { Injectable } from '@nestjs/common';
import type { Codec } from '../../kernel/event-sourcing/codec.js';
import { causedBy, type Recorded } from '../../kernel/event-sourcing/events.js';
import type { Reaction } from '../../kernel/event-sourcing/reaction.js';
import { Streams } from '../../kernel/event-sourcing/streams.js';
import { runCodec } from '../../background/runs/run.codec.js';
import type { RunForgotten } from '../../background/runs/run.events.js';
import { forgetTask, task } from './task.decider.js';
import { taskStream } from './task.events.js';

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

  constructor(private readonly streams: Streams) {}

  private async forget(event: Recorded<RunForgotten>): Promise<void> {
    const { runId: taskId } = event.data;
    await this.streams.transact(taskStream(taskId), task, forgetTask(taskId), causedBy(event, `system:${this.name}`));
  }
}
