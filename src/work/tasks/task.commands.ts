import { CommandHandler } from '@nestjs/cqrs';
import { Clock } from '../../kernel/clock.js';
import { Command, type Handler } from '../../kernel/commands.js';
import type { Decision } from '../../kernel/event-sourcing/decider.js';
import type { Cause } from '../../kernel/event-sourcing/events.js';
import { nothingYet, Streams } from '../../kernel/event-sourcing/streams.js';
import { WorkQueue } from '../../kernel/messaging/work-queue.js';
import { TaskRunners } from './task-runner.port.js';
import {
  failAttempt,
  failForGood,
  purgeTask,
  requeue,
  progress,
  queueTask,
  startTask,
  succeed,
  type Task,
  task,
} from './task.decider.js';
import { type TaskEvent, type TaskId, type TaskQueued, type TaskResult, taskStream } from './task.events.js';

/** Queues a task for any free worker. A repeated command queues it once. */
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
    // Without this nudge, the sweep finds the task in the log later.
    const { queue, payload } = this.runners.nudgeAbout(data);
    await this.workQueue.enqueue(queue, data.taskId, payload).catch(() => undefined);
  }
}

/** A worker that holds the task's lease claims it for an attempt. Returns the task. */
export class StartTask extends Command<Task> {
  constructor(
    readonly taskId: TaskId,
    readonly claim: string,
    readonly cause: Cause,
  ) {
    super();
  }
}

@CommandHandler(StartTask)
export class StartTaskHandler implements Handler<StartTask> {
  constructor(
    private readonly streams: Streams,
    private readonly clock: Clock,
  ) {}

  async execute({ taskId, claim, cause }: StartTask): Promise<Task> {
    const decision = startTask(taskId, claim, this.clock.now());
    return (await this.streams.transact(taskStream(taskId), task, decision, cause)).state;
  }
}

/** Records the progress of an attempt. */
export class ProgressTask extends Command {
  constructor(
    readonly taskId: TaskId,
    readonly attempt: number,
    readonly percent: number,
    readonly cause: Cause,
  ) {
    super();
  }
}

@CommandHandler(ProgressTask)
export class ProgressTaskHandler implements Handler<ProgressTask> {
  constructor(private readonly streams: Streams) {}

  async execute({ taskId, attempt, percent, cause }: ProgressTask): Promise<void> {
    await this.streams.transact(taskStream(taskId), task, progress(taskId, attempt, percent), cause);
  }
}

/** The end of an attempt. A `refused` one is not repeated, because another attempt would be refused too. */
export type AttemptEnding =
  | Readonly<{ type: 'succeeded'; result: TaskResult }>
  | Readonly<{ type: 'failed' | 'refused'; reason: string }>
  | Readonly<{ type: 'requeued' }>;

/** Records the end of an attempt. */
export class EndAttempt extends Command {
  constructor(
    readonly taskId: TaskId,
    readonly attempt: number,
    readonly ending: AttemptEnding,
    readonly cause: Cause,
  ) {
    super();
  }
}

@CommandHandler(EndAttempt)
export class EndAttemptHandler implements Handler<EndAttempt> {
  constructor(
    private readonly streams: Streams,
    private readonly clock: Clock,
  ) {}

  async execute(command: EndAttempt): Promise<void> {
    await this.streams.record(taskStream(command.taskId), task, this.decisionOf(command), command.cause);
  }

  private decisionOf({ taskId, attempt, ending }: EndAttempt): Decision<Task, TaskEvent> {
    switch (ending.type) {
      case 'succeeded':
        return succeed(taskId, attempt, ending.result);
      case 'refused':
        return failForGood(taskId, attempt, ending.reason);
      case 'failed':
        return failAttempt(taskId, attempt, ending.reason, this.clock.now());
      case 'requeued':
        return requeue(taskId, attempt);
    }
  }
}

/** Purges a task, once. */
export class PurgeTask extends Command {
  constructor(
    readonly taskId: TaskId,
    readonly cause: Cause,
  ) {
    super();
  }
}

@CommandHandler(PurgeTask)
export class PurgeTaskHandler implements Handler<PurgeTask> {
  constructor(private readonly streams: Streams) {}

  async execute({ taskId, cause }: PurgeTask): Promise<void> {
    await this.streams.transact(taskStream(taskId), task, purgeTask(taskId), cause);
  }
}

export const taskHandlers = [EndAttemptHandler, PurgeTaskHandler, ProgressTaskHandler, QueueTaskHandler, StartTaskHandler];
