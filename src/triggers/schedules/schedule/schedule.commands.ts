import { Injectable } from '@nestjs/common';
import { CommandHandler } from '@nestjs/cqrs';
import { Clock } from '../../../kernel/clock.js';
import { Command, type Handler } from '../../../kernel/commands.js';
import type { Decision } from '../../../kernel/event-sourcing/decider.js';
import type { Cause } from '../../../kernel/event-sourcing/events.js';
import { Streams } from '../../../kernel/event-sourcing/streams.js';
import { transactCaughtUp } from './catch-up.js';
import {
  type Asked,
  cancel,
  cancelTask,
  change,
  type ChatScope,
  pause,
  remove,
  requestRun,
  resume,
} from './schedule-changes.decider.js';
import { ScheduleRules } from './schedule-rules.js';
import { create, schedule, type Schedule } from './schedule.decider.js';
import { type ScheduleEvent, type ScheduleId, type ScheduleOrigin, scheduleStream } from './schedule.events.js';
import { type TaskRequest, parseTaskDefinition } from './task-definition.policy.js';
import { changesIn, type DefinitionRequest, parseDefinition, timingResumed } from './definition.policy.js';

/** A user creates a schedule. The caller has reserved a place for it with AdmitSchedule. */
export class CreateSchedule extends Command<bigint | undefined> {
  constructor(
    readonly scheduleId: ScheduleId,
    readonly ownerId: string,
    readonly origin: ScheduleOrigin,
    readonly asked: DefinitionRequest,
    readonly cause: Cause,
  ) {
    super();
  }
}

@CommandHandler(CreateSchedule)
export class CreateScheduleHandler implements Handler<CreateSchedule> {
  constructor(
    private readonly streams: Streams,
    private readonly clock: Clock,
    private readonly rules: ScheduleRules,
  ) {}

  async execute({ scheduleId, ownerId, origin, asked, cause }: CreateSchedule): Promise<bigint | undefined> {
    const now = this.clock.now();
    const decision = create(scheduleId, { ownerId, origin, definition: parseDefinition(asked, this.rules, now), now });
    return (await this.streams.transact(scheduleStream(scheduleId), schedule, decision, cause)).position;
  }
}

/** A chat creates a one-time task. The caller has reserved a place for it with AdmitSchedule. */
export class ScheduleTask extends Command<bigint | undefined> {
  constructor(
    readonly scheduleId: ScheduleId,
    readonly ownerId: string,
    readonly chat: ChatScope,
    readonly asked: TaskRequest,
    readonly cause: Cause,
  ) {
    super();
  }
}

@CommandHandler(ScheduleTask)
class ScheduleTaskHandler implements Handler<ScheduleTask> {
  constructor(
    private readonly streams: Streams,
    private readonly clock: Clock,
    private readonly rules: ScheduleRules,
  ) {}

  async execute({ scheduleId, ownerId, chat, asked, cause }: ScheduleTask): Promise<bigint | undefined> {
    const now = this.clock.now();
    const definition = parseTaskDefinition(asked, this.rules, now);
    const decision = create(scheduleId, { ownerId, origin: { ...chat, createdVia: 'chat' }, definition, now });
    return (await this.streams.transact(scheduleStream(scheduleId), schedule, decision, cause)).position;
  }
}

/** A command of the owner of a schedule. */
abstract class ScheduleCommand extends Command<bigint | undefined> {
  constructor(
    readonly scheduleId: ScheduleId,
    readonly ownerId: string,
    readonly cause: Cause,
  ) {
    super();
  }
}

/** Executes a decision of the owner, after the due slots are decided. */
@Injectable()
abstract class ScheduleCommandHandler {
  constructor(
    private readonly streams: Streams,
    private readonly clock: Clock,
    protected readonly rules: ScheduleRules,
  ) {}

  protected async decide(
    { scheduleId, ownerId, cause }: ScheduleCommand,
    decisionOf: (asked: Asked) => Decision<Schedule, ScheduleEvent>,
  ): Promise<bigint | undefined> {
    const asked = { ownerId, rules: this.rules, now: this.clock.now() };
    return (await transactCaughtUp(this.streams, scheduleId, decisionOf(asked), asked, cause)).position;
  }
}

/** The owner changes what a schedule does, or when. */
export class ChangeSchedule extends ScheduleCommand {
  constructor(
    scheduleId: ScheduleId,
    ownerId: string,
    readonly asked: DefinitionRequest,
    cause: Cause,
  ) {
    super(scheduleId, ownerId, cause);
  }
}

@CommandHandler(ChangeSchedule)
export class ChangeScheduleHandler extends ScheduleCommandHandler implements Handler<ChangeSchedule> {
  execute(command: ChangeSchedule) {
    const decision = (asked: Asked) => change(asked, (before) => changesIn(before, command.asked, this.rules, asked.now));
    return this.decide(command, decision);
  }
}

/** The owner pauses a schedule. Its slots start no runs until it is resumed. */
export class PauseSchedule extends ScheduleCommand {}

@CommandHandler(PauseSchedule)
export class PauseScheduleHandler extends ScheduleCommandHandler implements Handler<PauseSchedule> {
  execute(command: PauseSchedule) {
    return this.decide(command, pause);
  }
}

/** The owner resumes a schedule. A one-time schedule may get a new time. */
export class ResumeSchedule extends ScheduleCommand {
  constructor(
    scheduleId: ScheduleId,
    ownerId: string,
    readonly runAt: unknown,
    cause: Cause,
  ) {
    super(scheduleId, ownerId, cause);
  }
}

@CommandHandler(ResumeSchedule)
export class ResumeScheduleHandler extends ScheduleCommandHandler implements Handler<ResumeSchedule> {
  execute(command: ResumeSchedule) {
    const decision = (asked: Asked) => resume(asked, (before) => timingResumed(before, command.runAt, this.rules, asked.now));
    return this.decide(command, decision);
  }
}

/** Cancels a schedule for its owner. With `chat`, only a task that this chat may access. */
export class CancelSchedule extends ScheduleCommand {
  constructor(
    scheduleId: ScheduleId,
    ownerId: string,
    cause: Cause,
    readonly chat?: ChatScope,
  ) {
    super(scheduleId, ownerId, cause);
  }
}

@CommandHandler(CancelSchedule)
export class CancelScheduleHandler extends ScheduleCommandHandler implements Handler<CancelSchedule> {
  execute(command: CancelSchedule) {
    const { chat } = command;
    return this.decide(command, (asked) => (chat ? cancelTask(asked, chat) : cancel(asked)));
  }
}

/** The owner deletes a schedule and its list of runs. */
export class DeleteSchedule extends ScheduleCommand {}

@CommandHandler(DeleteSchedule)
class DeleteScheduleHandler extends ScheduleCommandHandler implements Handler<DeleteSchedule> {
  execute(command: DeleteSchedule) {
    return this.decide(command, remove);
  }
}

/** The owner requests a run now. */
export class RunScheduleNow extends Command<bigint | undefined> {
  constructor(
    readonly scheduleId: ScheduleId,
    readonly ownerId: string,
    readonly runId: string,
    readonly cause: Cause,
  ) {
    super();
  }
}

@CommandHandler(RunScheduleNow)
export class RunScheduleNowHandler implements Handler<RunScheduleNow> {
  constructor(
    private readonly streams: Streams,
    private readonly clock: Clock,
    private readonly rules: ScheduleRules,
  ) {}

  async execute({ scheduleId, ownerId, runId, cause }: RunScheduleNow): Promise<bigint | undefined> {
    const asking = { ownerId, rules: this.rules, now: this.clock.now() };
    const decision = requestRun(asking, runId);
    return (await this.streams.transact(scheduleStream(scheduleId), schedule, decision, cause)).position;
  }
}

export const scheduleHandlers = [
  CancelScheduleHandler,
  ChangeScheduleHandler,
  CreateScheduleHandler,
  DeleteScheduleHandler,
  PauseScheduleHandler,
  ResumeScheduleHandler,
  RunScheduleNowHandler,
  ScheduleTaskHandler,
];
