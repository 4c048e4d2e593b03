import { type BeforeApplicationShutdown, Module, type OnApplicationBootstrap } from '@nestjs/common';
import { Commands } from '../../kernel/commands.js';
import { TaskQueries } from '../../../projections/tasks/tasks.queries.js';
import { Blobs } from '../../kernel/blobs.js';
import { EventStore } from '../../kernel/event-sourcing/event-store.js';
import { Ids } from '../../kernel/ids.js';
import { KeyValue } from '../../kernel/messaging/key-value.js';
import { Streams } from '../../kernel/event-sourcing/streams.js';
import { Timing } from '../../kernel/timing.js';
import { WorkQueue } from '../../kernel/messaging/work-queue.js';
import { Config } from '../../platform/config/config.js';
import { isOutage } from '../../platform/supervision/outage.js';
import { QueueTask, taskHandlers } from './task.commands.js';
import { SweepTasks } from './sweep-tasks.ticker.js';
import { TaskQueue } from './task-queue.port.js';
import { TaskRunners } from './task-runner.port.js';
import { TASK_WORKER_OPTIONS, TaskWorker } from './task-worker.js';
import { TasksController } from './tasks.http.js';
import { ReportFailedTasks } from './report-failed-tasks.reaction.js';
import { tasksRejections } from './tasks.rejections.js';
import { taskPurges } from './task.purges.js';

type Parts = [EventStore, Streams, Commands, KeyValue, WorkQueue, Blobs, Timing, Ids, TaskRunners];

const REACTIONS = [ReportFailedTasks];
const TICKERS = [SweepTasks];

/** Work that outlives its request. Rooms queue it in the `TaskQueue` and add a runner for its kind. */
@Module({
  controllers: [TasksController],
  providers: [
    ...REACTIONS,
    ...TICKERS,
    TaskQueries,
    TaskRunners,
    ...taskHandlers,
    {
      provide: TaskQueue,
      inject: [Commands],
      useFactory: (commands: Commands): TaskQueue => ({ queue: (task, cause) => commands.execute(new QueueTask(task, cause)) }),
    },
    {
      provide: TaskWorker,
      inject: [Config, EventStore, Streams, Commands, KeyValue, WorkQueue, Blobs, Timing, Ids, TaskRunners],
      useFactory: (config: Config, ...[store, streams, commands, keyValue, workQueue, blobs, timing, ids, runners]: Parts) =>
        new TaskWorker(
          { store, streams, commands, keyValue, workQueue, blobs, timing, ids, runners, isOutage },
          { ...TASK_WORKER_OPTIONS, concurrency: config.workerConcurrency },
        ),
    },
  ],
  exports: [...REACTIONS, ...TICKERS, TaskQueue, TaskRunners],
})
export class TasksModule implements OnApplicationBootstrap, BeforeApplicationShutdown {
  static readonly reactions = REACTIONS;
  static readonly tickers = TICKERS;
  static readonly rejections = tasksRejections;
  static readonly purges = taskPurges;

  private readonly stopping = new AbortController();
  private working: Promise<void> = Promise.resolve();

  constructor(
    private readonly worker: TaskWorker,
    private readonly config: Config,
  ) {}

  onApplicationBootstrap(): void {
    if (this.config.roles.includes('worker')) this.working = this.worker.work(this.stopping.signal);
  }

  /** Accepts no more tasks, and requeues running ones. */
  async beforeApplicationShutdown(): Promise<void> {
    this.stopping.abort();
    await this.working;
  }
}
