import { CommandHandler } from '@nestjs/cqrs';
import { Command, type Handler } from '../../kernel/commands.js';
import type { Cause } from '../../kernel/event-sourcing/events.js';
import { nothingYet, Streams } from '../../kernel/event-sourcing/streams.js';
import { WorkQueue } from '../../kernel/work-queue.js';
import { TaskRunners } from './task-runner.port.js';
import { forgetTask, queueTask, task } from './task.decider.js';
import { type TaskId, type TaskQueued, taskStream } from './task.events.js';

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
export class QueueTaskHandler implements Handler<QueueTask> {
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

/** A task is forgotten; a forgotten one is forgotten once. */
export class ForgetTask extends Command {
  constructor(
    readonly taskId: TaskId,
    readonly cause: Cause,
  ) {
    super();
  }
}

@CommandHandler(ForgetTask)
export class ForgetTaskHandler implements Handler<ForgetTask> {
  constructor(private readonly streams: Streams) {}

  async execute({ taskId, cause }: ForgetTask): Promise<void> {
    await this.streams.transact(taskStream(taskId), task, forgetTask(taskId), cause);
  }
}
