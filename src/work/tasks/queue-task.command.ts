import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import type { Cause } from '../../kernel/event-sourcing/events.js';
import { nothingYet, Streams } from '../../kernel/event-sourcing/streams.js';
import { WorkQueue } from '../../kernel/work-queue.js';
import { queueTask, task } from './task.decider.js';
import { type TaskQueued, taskStream } from './task.events.js';
import { TaskRunners } from './task-runner.port.js';

/** Something is to be done soon, by whichever worker is free. Asked again, it is queued once. */
export class QueueTask extends Command<void> {
  constructor(
    readonly task: TaskQueued['data'],
    readonly cause: Cause,
  ) {
    super();
  }
}

@CommandHandler(QueueTask)
export class QueueTaskHandler implements ICommandHandler<QueueTask> {
  constructor(
    private readonly streams: Streams,
    private readonly workQueue: WorkQueue,
    private readonly runners: TaskRunners,
  ) {}

  async execute({ task: data, cause }: QueueTask): Promise<void> {
    await this.streams.transact(taskStream(data.taskId), task, queueTask(data), cause, nothingYet(task));
    // The task is in the log: without this nudge it is found there, only later.
    const { queue, payload } = this.runners.nudgeAbout(data);
    await this.workQueue.enqueue(queue, data.taskId, payload).catch(() => undefined);
  }
}
