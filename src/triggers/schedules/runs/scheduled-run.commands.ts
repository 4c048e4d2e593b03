import { CommandHandler } from '@nestjs/cqrs';
import { Clock } from '../../../kernel/clock.js';
import { Command, type Handler } from '../../../kernel/commands.js';
import type { Cause } from '../../../kernel/event-sourcing/events.js';
import { nothingYet, Streams } from '../../../kernel/event-sourcing/streams.js';
import type { RunId, ScheduleId } from '../schedule/schedule.events.js';
import {
  appendScheduledRun,
  purgeOutput,
  queueScheduledRun,
  reportScheduledRun,
  scheduledRun,
  startScheduledRun,
} from './scheduled-run.decider.js';
import {
  type RunMessage,
  type ScheduledRunQueued,
  type ScheduledRunReported,
  type ScheduledRunStarted,
  scheduledRunStream,
} from './scheduled-run.events.js';

/** Links a run to its schedule. Repeating the command has no effect. */
export class QueueScheduledRun extends Command<void> {
  constructor(
    readonly run: ScheduledRunQueued['data'],
    readonly cause: Cause,
  ) {
    super();
  }
}

@CommandHandler(QueueScheduledRun)
export class QueueScheduledRunHandler implements Handler<QueueScheduledRun> {
  constructor(private readonly streams: Streams) {}

  async execute({ run, cause }: QueueScheduledRun): Promise<void> {
    const decision = queueScheduledRun(run);
    await this.streams.transact(scheduledRunStream(run.runId), scheduledRun, decision, cause, nothingYet(scheduledRun));
  }
}

/** The first attempt of a run has started. Runs without a schedule are ignored. */
export class StartScheduledRun extends Command<void> {
  constructor(
    readonly started: ScheduledRunStarted['data'],
    readonly cause: Cause,
  ) {
    super();
  }
}

@CommandHandler(StartScheduledRun)
export class StartScheduledRunHandler implements Handler<StartScheduledRun> {
  constructor(private readonly streams: Streams) {}

  async execute({ started, cause }: StartScheduledRun): Promise<void> {
    await this.streams.transact(scheduledRunStream(started.runId), scheduledRun, startScheduledRun(started), cause);
  }
}

/** A run has ended with a report. Returns the run's schedule, or undefined if it has none. */
export class ReportScheduledRun extends Command<ScheduleId | undefined> {
  constructor(
    readonly reported: ScheduledRunReported['data'],
    readonly cause: Cause,
  ) {
    super();
  }
}

@CommandHandler(ReportScheduledRun)
export class ReportScheduledRunHandler implements Handler<ReportScheduledRun> {
  constructor(private readonly streams: Streams) {}

  async execute({ reported, cause }: ReportScheduledRun): Promise<ScheduleId | undefined> {
    const stream = scheduledRunStream(reported.runId);
    const { state } = await this.streams.transact(stream, scheduledRun, reportScheduledRun(reported), cause);
    return state.queued?.scheduleId;
  }
}

/** The answer of a run was added to a chat. */
export class AppendScheduledRun extends Command<void> {
  constructor(
    readonly runId: RunId,
    readonly where: RunMessage,
    readonly cause: Cause,
  ) {
    super();
  }
}

@CommandHandler(AppendScheduledRun)
export class AppendScheduledRunHandler implements Handler<AppendScheduledRun> {
  constructor(private readonly streams: Streams) {}

  async execute({ runId, where, cause }: AppendScheduledRun): Promise<void> {
    await this.streams.transact(scheduledRunStream(runId), scheduledRun, appendScheduledRun(runId, where), cause);
  }
}

/** Purges the output of a run. That it ran, and its result, is kept. */
export class PurgeScheduledRunOutput extends Command<void> {
  constructor(
    readonly runId: RunId,
    readonly cause: Cause,
  ) {
    super();
  }
}

@CommandHandler(PurgeScheduledRunOutput)
class PurgeScheduledRunOutputHandler implements Handler<PurgeScheduledRunOutput> {
  constructor(
    private readonly streams: Streams,
    private readonly clock: Clock,
  ) {}

  async execute({ runId, cause }: PurgeScheduledRunOutput): Promise<void> {
    await this.streams.transact(scheduledRunStream(runId), scheduledRun, purgeOutput(runId, this.clock.now()), cause);
  }
}

export const scheduledRunHandlers = [
  AppendScheduledRunHandler,
  PurgeScheduledRunOutputHandler,
  QueueScheduledRunHandler,
  ReportScheduledRunHandler,
  StartScheduledRunHandler,
];
