import { Module, type OnModuleInit } from '@nestjs/common';
import { AnsweringModule } from '../../dialogue/answering/answering.module.js';
import { LimitsModule } from '../../work/limits/limits.module.js';
import { TaskRunners } from '../../work/tasks/task-runner.port.js';
import { TasksModule } from '../../work/tasks/tasks.module.js';
import { QueuedRuns } from './queued-runs.js';
import { RunAgent } from './run-agent.js';
import { runHandlers } from './run.commands.js';
import { Runs } from './runs.port.js';
import { EndWorkflowsOfRuns } from './end-workflows-of-runs.reaction.js';
import { PurgeTasksOfRuns } from './purge-tasks-of-runs.reaction.js';
import { runsRejections } from './runs.rejections.js';
import { runPurges } from './run.purges.js';

const REACTIONS = [PurgeTasksOfRuns, EndWorkflowsOfRuns];

/** Headless runs of agents. */
@Module({
  imports: [AnsweringModule, LimitsModule, TasksModule],
  providers: [...REACTIONS, ...runHandlers, RunAgent, { provide: Runs, useClass: QueuedRuns }],
  exports: [...REACTIONS, Runs],
})
export class RunsModule implements OnModuleInit {
  static readonly reactions = REACTIONS;
  static readonly rejections = runsRejections;
  static readonly purges = runPurges;

  constructor(
    private readonly runners: TaskRunners,
    private readonly runAgent: RunAgent,
  ) {}

  onModuleInit(): void {
    this.runners.add(this.runAgent);
  }
}
