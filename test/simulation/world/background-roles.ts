import { noInputGuard } from '../../support/guardrails.js';
import { LogEarlierTurns } from '../../support/log-earlier-turns.js';
import { AutomaticTurnIntake } from '../../../src/dialogue/answering/intake/automatic-turn-intake.js';
import type { QuestionResolver } from '../../../src/dialogue/answering/intake/resolve-question.js';
import { StoredTurnAdditions } from '../../../src/dialogue/journal/stored-turn-additions.js';
import {
  CancelJobHandler,
  EndJobHandler,
  MarkJobLostHandler,
  ReportJobProgressHandler,
  StartJobHandler,
  ReportJobHandler,
} from '../../../src/background/jobs/job.commands.js';
import { JobRunner } from '../../../src/background/jobs/job-runner.js';
import { ReportLostJobs } from '../../../src/background/jobs/report-lost-jobs.ticker.js';
import { RequestJobFollowUps } from '../../../src/background/jobs/request-job-follow-ups.ticker.js';
import type { Blobs } from '../../../src/kernel/blobs.js';
import type { Reaction } from '../../../src/kernel/event-sourcing/reaction.js';
import type { Streams } from '../../../src/kernel/event-sourcing/streams.js';
import type { Ticker } from '../../../src/kernel/event-sourcing/ticker.js';
import { CheckMonitor } from '../../../src/triggers/monitors/checks/check-monitor.js';
import { CheckMonitors } from '../../../src/triggers/monitors/checks/check-monitors.ticker.js';
import {
  AttendMonitorHandler,
  CreateMonitorHandler,
  ReportCheckHandler,
  SteerMonitorHandler,
} from '../../../src/triggers/monitors/monitor/monitor.commands.js';
import { RequestMonitorFollowUps } from '../../../src/triggers/monitors/request-monitor-follow-ups.reaction.js';
import { WatchedSources } from '../../../src/triggers/monitors/checks/watched-sources.js';
import type { Runs } from '../../../src/background/runs/runs.port.js';
import { AppendScheduledAnswers } from '../../../src/triggers/schedules/runs/append-scheduled-answers.reaction.js';
import {
  CancelScheduleHandler,
  ChangeScheduleHandler,
  CreateScheduleHandler,
  PauseScheduleHandler,
  ResumeScheduleHandler,
  RunScheduleNowHandler,
} from '../../../src/triggers/schedules/schedule/schedule.commands.js';
import { EndScheduleRunHandler, DecideSlotsHandler } from '../../../src/triggers/schedules/schedule/slot-ledger.commands.js';
import { DueSchedules } from '../../../src/triggers/schedules/due-schedules.ticker.js';
import {
  AppendScheduledRunHandler,
  QueueScheduledRunHandler,
  ReportScheduledRunHandler,
  StartScheduledRunHandler,
} from '../../../src/triggers/schedules/runs/scheduled-run.commands.js';
import { FollowScheduledRuns } from '../../../src/triggers/schedules/runs/follow-scheduled-runs.reaction.js';
import { KeyValueSchedulerHeartbeat } from '../../../src/triggers/schedules/key-value-scheduler-heartbeat.js';
import { QueueScheduledRuns } from '../../../src/triggers/schedules/runs/queue-scheduled-runs.reaction.js';
import { DeliverFollowUps } from '../../../src/background/follow-ups/deliver-follow-ups.ticker.js';
import { RequestedFollowUps } from '../../../src/background/follow-ups/requested-follow-ups.js';
import {
  GatherFollowUpsHandler,
  RequestFollowUpHandler,
  CompleteFollowUpsHandler,
} from '../../../src/background/follow-ups/follow-ups.commands.js';
import { NoLimits } from '../../support/no-limits.js';
import {
  JOBS,
  MESSAGE_RETENTION_SECONDS,
  MONITOR_RULES,
  NO_JUDGE,
  NO_PAGES,
  NO_PATTERNS,
  NO_SOURCES,
  SCHEDULE_RULES,
} from './background-settings.js';
import type { HandledCommands } from '../../support/commands-over.js';
import type { Ports } from './roles.js';

/** The background parts of a seed. A part that is not used is left out, because it would only run empty checks. */
export type Rooms = Readonly<{
  schedules: boolean;
  followUps: boolean;
  /** How long questions wait for workers that processes do not see although they work. Undefined: workers are seen. */
  unseenWorkersMs?: number | undefined;
}>;

/** What the background parts share with those for answers. */
export type Shared = Readonly<{
  commands: HandledCommands;
  streams: Streams;
  blobs: Blobs;
  runs: Runs;
  resolver: QuestionResolver;
}>;

type Background = Readonly<{ tickers: readonly Ticker[]; reactions: readonly Reaction[] }>;

/** Schedules with their slots and runs. */
export function scheduleRoles({ store, keyValue, clock, timing, ids, schedules }: Ports, shared: Shared): Background {
  const { commands, streams, runs } = shared;
  commands.handle(
    new CreateScheduleHandler(streams, clock, SCHEDULE_RULES),
    new ChangeScheduleHandler(streams, clock, SCHEDULE_RULES),
    new PauseScheduleHandler(streams, clock, SCHEDULE_RULES),
    new ResumeScheduleHandler(streams, clock, SCHEDULE_RULES),
    new CancelScheduleHandler(streams, clock, SCHEDULE_RULES),
    new RunScheduleNowHandler(streams, clock, SCHEDULE_RULES),
    new DecideSlotsHandler(streams, clock, SCHEDULE_RULES),
    new EndScheduleRunHandler(streams, clock, SCHEDULE_RULES),
    new QueueScheduledRunHandler(streams),
    new StartScheduledRunHandler(streams),
    new ReportScheduledRunHandler(streams),
    new AppendScheduledRunHandler(streams),
  );
  const heartbeat = new KeyValueSchedulerHeartbeat(keyValue, timing, ids);
  const additions = new StoredTurnAdditions(store, streams, commands, new LogEarlierTurns(store), MESSAGE_RETENTION_SECONDS);
  return {
    tickers: [new DueSchedules(commands, schedules, SCHEDULE_RULES, heartbeat, ids)],
    reactions: [
      new QueueScheduledRuns(streams, commands, runs, SCHEDULE_RULES),
      new FollowScheduledRuns(commands),
      new AppendScheduledAnswers(store, commands, additions),
    ],
  };
}

/** Background jobs, monitors, and the follow-ups with their results. */
export function followUpRoles(ports: Ports, { commands, streams, blobs, resolver }: Shared) {
  const { store, signals, keyValue, queue, clock, timing, ids, models, toolbox, unsealedTurns, jobs, monitors, followUps } =
    ports;
  commands.handle(
    new StartJobHandler(streams),
    new ReportJobProgressHandler(streams),
    new EndJobHandler(streams, clock),
    new CancelJobHandler(streams, signals),
    new MarkJobLostHandler(streams, clock),
    new ReportJobHandler(streams),
    new RequestFollowUpHandler(streams),
    new GatherFollowUpsHandler(streams),
    new CompleteFollowUpsHandler(streams),
    new CreateMonitorHandler(streams, clock),
    new SteerMonitorHandler(streams, clock),
    new AttendMonitorHandler(streams, clock),
    new ReportCheckHandler(streams, clock, MONITOR_RULES),
  );
  const inputs = noInputGuard(streams, commands);
  const sources = new WatchedSources(NO_PAGES, toolbox, NO_SOURCES, timing, inputs);
  const check = new CheckMonitor(streams, commands, clock, sources, NO_PATTERNS, NO_JUDGE);
  const automatic = new AutomaticTurnIntake(
    store,
    streams,
    commands,
    resolver,
    models,
    new NoLimits(),
    queue,
    new LogEarlierTurns(store),
    inputs,
  );
  const requested = new RequestedFollowUps(commands, inputs, automatic);
  return {
    followUps: requested,
    automatic,
    tickers: [
      new ReportLostJobs(jobs, keyValue, commands, store),
      new RequestJobFollowUps(jobs, unsealedTurns, blobs, requested, commands, store),
      new CheckMonitors(monitors, check, ids),
      new DeliverFollowUps(followUps, streams, commands, automatic, timing),
    ],
    reactions: [new RequestMonitorFollowUps(store, requested)],
  };
}

/** Runs tool calls, which the turn awaits or which continue as jobs. */
export const jobRunner = (
  { signals, keyValue, clock, timing, ids }: Ports,
  { streams, commands, blobs }: Pick<Shared, 'streams' | 'commands' | 'blobs'>,
) => new JobRunner({ streams, commands, signals, blobs, clock, timing, ids }, keyValue, JOBS);
