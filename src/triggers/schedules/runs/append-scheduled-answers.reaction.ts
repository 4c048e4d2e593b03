import { Injectable } from '@nestjs/common';
import { TurnAdditions } from '../../../dialogue/conversation/additions.port.js';
import { Commands } from '../../../kernel/commands.js';
import { type Codec, decode } from '../../../kernel/event-sourcing/codec.js';
import { EventStore, firstEvent, lastEvent } from '../../../kernel/event-sourcing/event-store.js';
import { causedBy, type Recorded } from '../../../kernel/event-sourcing/events.js';
import type { Reaction } from '../../../kernel/event-sourcing/reaction.js';
import { runCodec } from '../../../background/runs/run.codec.js';
import { type RunEvent, runStream } from '../../../background/runs/run.events.js';
import { scheduleCodec } from '../schedule/schedule.codec.js';
import {
  type RunId,
  type ScheduleEvent,
  type ScheduleId,
  type ScheduleRunEnded,
  scheduleStream,
} from '../schedule/schedule.events.js';
import { AppendScheduledRun } from './scheduled-run.commands.js';
import { messageIdOf } from './scheduled-run.events.js';

/**
 * Adds the answer of a one-time run to the chat in which the task was created. Steps: read what was queued, and ignore runs
 * without a chat or without success; read the answer and the time of the slot; add the message; record the message in the run's
 * own stream. The message's id is derived from the run, so a crash after any step repeats all steps and adds nothing twice. If
 * the chat is gone, nothing is added and the run still counts as a success.
 */
@Injectable()
export class AppendScheduledAnswers implements Reaction<ScheduleRunEnded> {
  readonly name = 'append-scheduled-answers';
  readonly categories = ['schedule'];
  readonly codec: Codec<ScheduleRunEnded> = scheduleCodec;
  readonly on = { ScheduleRunEnded: (event: Recorded<ScheduleRunEnded>) => this.append(event) };

  constructor(
    private readonly store: EventStore,
    private readonly commands: Commands,
    private readonly additions: TurnAdditions,
  ) {}

  private async append(event: Recorded<ScheduleRunEnded>): Promise<void> {
    const { scheduleId, runId, status } = event.data;
    if (status !== 'success') return;
    const queued = runEvent(await firstEvent(this.store, runStream(runId)));
    if (queued?.type !== 'RunQueued' || queued.data.conversationId === undefined) return;
    const finished = runEvent(await lastEvent(this.store, runStream(runId)));
    if (finished?.type !== 'RunFinished') return;
    const { ownerId, input: question, conversationId } = queued.data;
    const { answer, thought, sources, toolCalls, structured, modelId } = finished.data;
    const messageId = messageIdOf(runId);
    const scheduledFor = await this.scheduledFor(scheduleId, runId);
    const added = {
      conversationId,
      ownerId,
      turnId: messageId,
      question,
      parts: { answer, thought, sources, toolCalls, structured },
      modelId,
      origin: { kind: 'schedule', scheduleId, runId, scheduledFor },
    } as const;
    const cause = causedBy(event, `system:${this.name}`);
    if ((await this.additions.add(added, cause)) === undefined) return;
    await this.commands.execute(new AppendScheduledRun(runId, { conversationId, messageId }, cause));
  }

  /** The time of the run's slot, or the time of the request for a requested run. */
  private async scheduledFor(scheduleId: ScheduleId, runId: RunId): Promise<string> {
    for await (const page of this.store.read(scheduleStream(scheduleId))) {
      for (const stored of page) {
        const event = decode<ScheduleEvent>(scheduleCodec, stored);
        if (event?.type === 'ScheduleRunQueued' && event.data.runId === runId) return event.data.slot;
        if (event?.type === 'ScheduleRunRequested' && event.data.runId === runId) return event.data.requestedAt;
      }
    }
    throw new Error(`Schedule ${scheduleId} ended run ${runId}, which it did not start.`);
  }
}

const runEvent = (stored: Awaited<ReturnType<typeof firstEvent>>) => stored && decode<RunEvent>(runCodec, stored);
