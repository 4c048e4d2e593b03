import { Injectable } from '@nestjs/common';
import { Commands } from '../../kernel/commands.js';
import type { Cause } from '../../kernel/event-sourcing/events.js';
import { TaskQueue } from '../../work/tasks/task-queue.port.js';
import { GiveUpRun, PurgeRun, QueueRun } from './run.commands.js';
import type { DeliveryPlace, RunId, RunQueued } from './run.events.js';
import { RUN_AGENT, Runs } from './runs.port.js';

/** Queues runs as tasks. Appends the run before its task, so after a crash in between the caller can repeat the request. */
@Injectable()
export class QueuedRuns extends Runs {
  constructor(
    private readonly commands: Commands,
    private readonly tasks: TaskQueue,
  ) {
    super();
  }

  async queue(data: RunQueued['data'], cause: Cause): Promise<void> {
    const { runId, ownerId } = data;
    await this.commands.execute(new QueueRun(data, cause));
    await this.tasks.queue({ taskId: runId, kind: RUN_AGENT, ownerId, input: {} }, cause);
  }

  giveUp(runId: RunId, cause: Cause): Promise<void> {
    return this.commands.execute(new GiveUpRun(runId, cause));
  }

  purge(runId: RunId, delivery: DeliveryPlace | null, cause: Cause): Promise<void> {
    return this.commands.execute(new PurgeRun(runId, delivery, cause));
  }
}
