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
 * What a one-time run said becomes a message of the chat that it was asked for in. Steps: read what the run was asked, and leave
 * alone those that belong to no chat or have not succeeded; read what it said, and for when it was scheduled; add the message; note
 * in the run's own stream where it stands. The message is named by the run, so a crash after any step repeats them all and
 * adds nothing twice. Where the chat is gone nothing is added, and the run stays the success that it was.
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

  /** The slot of a run; of one that somebody asked for, when that was. */
  private async scheduledFor(scheduleId: ScheduleId, runId: RunId): Promise<string> {
    for await (const page of this.store.read(scheduleStream(scheduleId))) {
      for (const stored of page) {
        const event = decode<ScheduleEvent>(scheduleCodec, stored);
        if (event?.type === 'ScheduleRunQueued' && event.data.runId === runId) return event.data.slot;
        if (event?.type === 'ScheduleRunRequested' && event.data.runId === runId) return event.data.requestedAt;
      }
    }
    throw new Error(`Schedule ${scheduleId} ended run ${runId}, which it never began.`);
  }
}

const runEvent = (stored: Awaited<ReturnType<typeof firstEvent>>) => stored && decode<RunEvent>(runCodec, stored);
