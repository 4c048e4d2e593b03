import { Injectable } from '@nestjs/common';
import type { Codec } from '../../kernel/event-sourcing/codec.js';
import { causedBy, type Recorded } from '../../kernel/event-sourcing/events.js';
import type { Reaction } from '../../kernel/event-sourcing/reaction.js';
import { Streams } from '../../kernel/event-sourcing/streams.js';
import { taskCodec } from './task.codec.js';
import { task } from './task.decider.js';
import { type TaskFailed, taskStream } from './task.events.js';
import { TaskRunners } from './task-runner.port.js';

/**
 * Reports a finally failed task to its runner, which may have to clean up. A crash before the checkpoint repeats the report, and
 * the runner ignores the repetition.
 */
@Injectable()
export class ReportFailedTasks implements Reaction<TaskFailed> {
  readonly name = 'report-failed-tasks';
  readonly categories = ['task'];
  readonly codec: Codec<TaskFailed> = taskCodec;
  readonly on = { TaskFailed: (event: Recorded<TaskFailed>) => this.report(event) };

  constructor(
    private readonly streams: Streams,
    private readonly runners: TaskRunners,
  ) {}

  private async report(event: Recorded<TaskFailed>): Promise<void> {
    const { taskId, reason } = event.data;
    const { state } = await this.streams.fold(taskStream(taskId), task);
    await this.runners.of(state.kind)?.failed?.(taskId, state.input, reason, causedBy(event, `system:${this.name}`));
  }
}
