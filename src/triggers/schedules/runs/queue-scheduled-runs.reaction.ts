import { Injectable } from '@nestjs/common';
import { Commands } from '../../../kernel/commands.js';
import type { Codec } from '../../../kernel/event-sourcing/codec.js';
import { causedBy, type Recorded } from '../../../kernel/event-sourcing/events.js';
import type { Reaction } from '../../../kernel/event-sourcing/reaction.js';
import { Streams } from '../../../kernel/event-sourcing/streams.js';
import { Runs } from '../../../background/runs/runs.port.js';
import { ScheduleRules } from '../schedule/schedule-rules.js';
import { scheduleCodec } from '../schedule/schedule.codec.js';
import { schedule } from '../schedule/schedule.decider.js';
import {
  type ScheduleRunEnded,
  type ScheduleRunQueued,
  type ScheduleRunRequested,
  scheduleStream,
} from '../schedule/schedule.events.js';
import { QueueScheduledRun } from './scheduled-run.commands.js';

const SIDE_BY_SIDE_MAX = 64;

type Queued = ScheduleRunQueued | ScheduleRunRequested;
type Followed = Queued | ScheduleRunEnded;

/**
 * Queues the run of a slot, and ends it if it has not started when the schedule gives it up. Steps: read the schedule; record in the run's own stream to which schedule it belongs; queue the run.
 * The event holds the run's id, so a crash after any step repeats all steps and creates nothing twice. Nothing is queued if the
 * schedule is deleted or has already given the run up. A one-time run continues the chat in which the task was created; a
 * recurring run starts without history.
 */
@Injectable()
export class QueueScheduledRuns implements Reaction<Followed> {
  readonly name = 'queue-scheduled-runs';
  readonly categories = ['schedule'];
  /** Many schedules are due in the same minute, and the store combines concurrent appends into fewer writes. */
  readonly concurrency = SIDE_BY_SIDE_MAX;
  readonly codec: Codec<Followed> = scheduleCodec;
  readonly on = {
    ScheduleRunQueued: (event: Recorded<ScheduleRunQueued>) => this.queue(event),
    ScheduleRunRequested: (event: Recorded<ScheduleRunRequested>) => this.queue(event),
    ScheduleRunEnded: (event: Recorded<ScheduleRunEnded>) => this.giveUp(event),
  };

  constructor(
    private readonly streams: Streams,
    private readonly commands: Commands,
    private readonly runs: Runs,
    private readonly rules: ScheduleRules,
  ) {}

  private async queue(event: Recorded<Queued>): Promise<void> {
    const { scheduleId, runId } = event.data;
    const cause = causedBy(event, `system:${this.name}`);
    const { state } = await this.streams.fold(scheduleStream(scheduleId), schedule);
    const { ownerId, agentId, conversationId, definition, openRun, status } = state;
    if (openRun?.runId !== runId || status === 'deleted') return;
    await this.commands.execute(new QueueScheduledRun({ runId, scheduleId, ownerId }, cause));
    const { instruction: input, modelId, toolAllowlist } = definition;
    const runDefinition = { modelId, toolAllowlist, timeoutMs: this.rules.runTimeoutMs };
    const goesOn = definition.timing.kind === 'once' && conversationId !== null;
    const what = { runId, ownerId, agentId, trigger: 'schedule', input, definition: runDefinition } as const;
    await this.runs.queue({ ...what, ...(goesOn && { conversationId }) }, cause);
  }

  /** A run that has timed out by itself has ended already, and does not change. */
  private async giveUp(event: Recorded<ScheduleRunEnded>): Promise<void> {
    const { runId, status } = event.data;
    if (status === 'timeout') await this.runs.giveUp(runId, causedBy(event, `system:${this.name}`));
  }
}
