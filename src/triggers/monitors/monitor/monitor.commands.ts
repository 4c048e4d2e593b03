import { CommandHandler } from '@nestjs/cqrs';
import { Clock } from '../../../kernel/clock.js';
import { Command, type Handler } from '../../../kernel/commands.js';
import type { Cause } from '../../../kernel/event-sourcing/events.js';
import { type Folded, Streams } from '../../../kernel/event-sourcing/streams.js';
import { type CheckResult, reportCheck } from './check-report.decider.js';
import { nextCheckAt } from './check-times.policy.js';
import { MonitorRules } from './monitor-rules.js';
import { attend, cancel, cancelWith, create, type Monitor, monitor, pause, resume } from './monitor.decider.js';
import { type MonitorCreated, type MonitorId, type MonitorParent, monitorStream } from './monitor.events.js';

/** Creates a monitor. The caller has reserved a place for it with AdmitMonitor. */
export class CreateMonitor extends Command<bigint | undefined> {
  constructor(
    readonly monitor: Omit<MonitorCreated['data'], 'createdAt' | 'nextCheckAt'>,
    readonly cause: Cause,
  ) {
    super();
  }
}

@CommandHandler(CreateMonitor)
export class CreateMonitorHandler implements Handler<CreateMonitor> {
  constructor(
    private readonly streams: Streams,
    private readonly clock: Clock,
  ) {}

  async execute({ monitor: { monitorId, ...more }, cause }: CreateMonitor): Promise<bigint | undefined> {
    const now = this.clock.now();
    const times = {
      createdAt: now.toISOString(),
      nextCheckAt: nextCheckAt({ monitorId, checkNumber: 1, ...more.definition }, now),
    };
    const decision = create({ monitorId, ...more, ...times });
    return (await this.streams.transact(monitorStream(monitorId), monitor, decision, cause)).position;
  }
}

const DECISIONS = { pause, resume, cancel } as const;

export type Steering = keyof typeof DECISIONS;

export const isSteering = (text: string): text is Steering => Object.hasOwn(DECISIONS, text);

/** The owner pauses, resumes or cancels a monitor. */
export class SteerMonitor extends Command<bigint | undefined> {
  constructor(
    readonly monitorId: MonitorId,
    readonly ownerId: string,
    readonly steering: Steering,
    readonly cause: Cause,
  ) {
    super();
  }
}

@CommandHandler(SteerMonitor)
export class SteerMonitorHandler implements Handler<SteerMonitor> {
  constructor(
    private readonly streams: Streams,
    private readonly clock: Clock,
  ) {}

  async execute({ monitorId, ownerId, steering, cause }: SteerMonitor): Promise<bigint | undefined> {
    const decision = DECISIONS[steering](ownerId, this.clock.now());
    return (await this.streams.transact(monitorStream(monitorId), monitor, decision, cause)).position;
  }
}

/** The state of a monitor, and the number of the check that the caller has claimed; undefined if no check is due. */
export type Attended = Readonly<{ known: Folded<Monitor>; check: number | undefined }>;

/** Claims the due check of a monitor, or ends the monitor if it has expired. */
export class AttendMonitor extends Command<Attended> {
  constructor(
    readonly monitorId: MonitorId,
    readonly leaseMs: number,
    readonly known: Folded<Monitor>,
    readonly cause: Cause,
  ) {
    super();
  }
}

@CommandHandler(AttendMonitor)
export class AttendMonitorHandler implements Handler<AttendMonitor> {
  constructor(
    private readonly streams: Streams,
    private readonly clock: Clock,
  ) {}

  async execute({ monitorId, leaseMs, known: before, cause }: AttendMonitor): Promise<Attended> {
    const decision = attend(this.clock.now(), leaseMs);
    const known = await this.streams.transact(monitorStream(monitorId), monitor, decision, cause, before);
    const claim = known.events.find(({ type }) => type === 'MonitorCheckStarted');
    return { known, check: claim?.type === 'MonitorCheckStarted' ? claim.data.check : undefined };
  }
}

/** Records the result of a check. Returns the state afterwards. */
export class ReportCheck extends Command<Folded<Monitor>> {
  constructor(
    readonly monitorId: MonitorId,
    readonly check: number,
    readonly look: CheckResult,
    readonly known: Folded<Monitor>,
    readonly cause: Cause,
  ) {
    super();
  }
}

@CommandHandler(ReportCheck)
export class ReportCheckHandler implements Handler<ReportCheck> {
  constructor(
    private readonly streams: Streams,
    private readonly clock: Clock,
    private readonly rules: MonitorRules,
  ) {}

  execute({ monitorId, check, look, known, cause }: ReportCheck): Promise<Folded<Monitor>> {
    const decision = reportCheck(check, look, this.rules, this.clock.now());
    return this.streams.record(monitorStream(monitorId), monitor, decision, cause, known);
  }
}

/** Cancels a monitor whose conversation or agent was deleted. */
export class CancelMonitorWith extends Command<void> {
  constructor(
    readonly parent: MonitorParent,
    readonly monitorId: MonitorId,
    readonly cause: Cause,
  ) {
    super();
  }
}

@CommandHandler(CancelMonitorWith)
class CancelMonitorWithHandler implements Handler<CancelMonitorWith> {
  constructor(
    private readonly streams: Streams,
    private readonly clock: Clock,
  ) {}

  async execute({ parent, monitorId, cause }: CancelMonitorWith): Promise<void> {
    const decision = cancelWith(parent, this.clock.now());
    await this.streams.transact(monitorStream(monitorId), monitor, decision, cause);
  }
}

export const monitorHandlers = [
  AttendMonitorHandler,
  CancelMonitorWithHandler,
  CreateMonitorHandler,
  ReportCheckHandler,
  SteerMonitorHandler,
];
