import { Injectable } from '@nestjs/common';
import { Commands } from '../../../kernel/commands.js';
import { ScheduleQueries } from '../../../../projections/schedules/schedules.queries.js';
import type { Cause } from '../../../kernel/event-sourcing/events.js';
import { Freshness } from '../../../kernel/event-sourcing/freshness.js';
import { Rejection } from '../../../kernel/rejection.js';
import { Streams } from '../../../kernel/event-sourcing/streams.js';
import { DefinitionGuard } from '../schedule/definition-guard.js';
import { AdmitSchedule } from '../allowance/allowance.commands.js';
import { CancelSchedule, ScheduleTask } from '../schedule/schedule.commands.js';
import { type Chat, ChatSchedules, type ChatTask, TASKS_LISTED_MAX } from './chat-schedules.port.js';
import { schedule } from '../schedule/schedule.decider.js';
import { scheduleStream } from '../schedule/schedule.events.js';
import type { TaskRequest } from '../schedule/task-definition.policy.js';

/** The read model from which chats list their tasks. */
const READ = ['schedules'];

/** Stores tasks of chats as ordinary schedules, within the same limits. */
@Injectable()
export class StoredChatSchedules extends ChatSchedules {
  constructor(
    private readonly commands: Commands,
    private readonly streams: Streams,
    private readonly schedules: ScheduleQueries,
    private readonly freshness: Freshness,
    private readonly definitions: DefinitionGuard,
  ) {
    super();
  }

  /**
   * Returns an existing task unchanged. A crash before the task is created leaves a reserved place, which no longer counts after
   * ADMISSION_MS.
   */
  async schedule(taskId: string, chat: Chat, asked: TaskRequest, cause: Cause): Promise<ChatTask> {
    const known = await this.stored(taskId);
    if (known) return known;
    const { ownerId, agentId, conversationId } = chat;
    const checked = await this.definitions.checked(agentId, asked);
    await this.commands.execute(new AdmitSchedule(ownerId, taskId, cause));
    try {
      const task = new ScheduleTask(taskId, ownerId, { agentId, conversationId }, checked, cause);
      await this.freshness.reached(READ, await this.commands.execute(task));
    } catch (error) {
      if (error instanceof Rejection) await this.commands.execute(new AdmitSchedule(ownerId, taskId, cause, 'no-place'));
      throw error;
    }
    return (await this.stored(taskId))!;
  }

  async pending(chat: Chat): Promise<readonly ChatTask[]> {
    const tasks = await this.schedules.tasksIn(chat, TASKS_LISTED_MAX);
    return tasks.map(({ id, name, instruction, nextSlotAt, timezone, status }) => {
      const runAt = nextSlotAt?.toISOString() ?? null;
      return { id, name, instruction, runAt, timezone, status };
    });
  }

  async cancel(taskId: string, { ownerId, agentId, conversationId }: Chat, cause: Cause): Promise<void> {
    const cancelled = new CancelSchedule(taskId, ownerId, cause, { agentId, conversationId });
    await this.freshness.reached(READ, await this.commands.execute(cancelled));
  }

  private async stored(taskId: string): Promise<ChatTask | undefined> {
    const { state } = await this.streams.fold(scheduleStream(taskId), schedule);
    const { status, definition } = state;
    if (status === 'none') return undefined;
    const { name, instruction, timing } = definition;
    const runAt = timing.kind === 'once' ? timing.runAt : null;
    return { id: taskId, name, instruction, runAt, timezone: timing.timezone, status };
  }
}
