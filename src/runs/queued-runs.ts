import { Injectable } from '@nestjs/common';
import type { Cause } from '../kernel/events.js';
import { Streams } from '../kernel/streams.js';
import { TaskQueue } from '../tasks/task-queue.port.js';
import { queueRun, run } from './run.decider.js';
import { type RunQueued, runStream } from './run.events.js';
import { RUN_AGENT, Runs } from './runs.port.js';

/** Runs as tasks. What is to be done is in the log before the task is, so a crash between the two leaves nothing half done once it is repeated. */
@Injectable()
export class QueuedRuns extends Runs {
  constructor(
    private readonly streams: Streams,
    private readonly tasks: TaskQueue,
  ) {
    super();
  }

  async queue(data: RunQueued['data'], cause: Cause): Promise<void> {
    const { runId, ownerId } = data;
    await this.streams.transact(runStream(runId), run, queueRun(data), cause);
    await this.tasks.queue({ taskId: runId, kind: RUN_AGENT, ownerId, input: {} }, cause);
  }
}
