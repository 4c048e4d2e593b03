import { CommandHandler } from '@nestjs/cqrs';
import { Clock } from '../../kernel/clock.js';
import { Command, type Handler } from '../../kernel/commands.js';
import type { Decision } from '../../kernel/event-sourcing/decider.js';
import type { Cause } from '../../kernel/event-sourcing/events.js';
import { nothingYet, Streams } from '../../kernel/event-sourcing/streams.js';
import { WorkQueue } from '../../kernel/work-queue.js';
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

/** A worker that holds a task's lease claims it for one attempt. Answers with the task as it then is. */
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

/** An attempt says how far it has come. */
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

/** How an attempt ends. One that is `refused` is not repeated, because another would be refused as well. */
export type AttemptEnding =
  | Readonly<{ type: 'succeeded'; result: TaskResult }>
  | Readonly<{ type: 'failed' | 'refused'; reason: string }>
  | Readonly<{ type: 'requeued' }>;

/** An attempt is over. */
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

/** A task is purged; a purged one is purged once. */
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
