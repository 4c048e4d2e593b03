import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { attachmentCodec } from '../../resources/attachments/attachment.codec.js';
import { type AttachmentEvent, attachmentStream } from '../../resources/attachments/attachment.events.js';
import { conversationCodec } from '../../dialogue/conversation/conversation.codec.js';
import type { ConversationEvent } from '../../dialogue/conversation/conversation.events.js';
import { type Codec, decode } from '../../kernel/event-sourcing/codec.js';
import { EventStore, firstEvent } from '../../kernel/event-sourcing/event-store.js';
import type { Event, Recorded } from '../../kernel/event-sourcing/events.js';
import type { Reaction, ReactionHandlers } from '../../kernel/event-sourcing/reaction.js';
import { jobCodec } from '../../background/jobs/job.codec.js';
import { type JobEvent, jobStream } from '../../background/jobs/job.events.js';
import { monitorCodec } from '../../triggers/monitors/monitor/monitor.codec.js';
import type { MonitorEvent } from '../../triggers/monitors/monitor/monitor.events.js';
import { scheduleCodec } from '../../triggers/schedules/schedule/schedule.codec.js';
import { type ScheduleEvent, scheduleStream } from '../../triggers/schedules/schedule/schedule.events.js';
import { sourceCodec } from '../../resources/sources/source/source.codec.js';
import {
  type SourceEvent,
  type SourceIngestCompleted,
  type SourceIngestFailed,
  type SourceIngestRequested,
  sourceStream,
} from '../../resources/sources/source/source.events.js';
import { taskCodec } from '../../work/tasks/task.codec.js';
import { type TaskEvent, type TaskProgressed, taskStream } from '../../work/tasks/task.events.js';
import {
  attachmentNotification,
  attachmentProgressNotification,
  noAttachment,
  withAttachmentEvent,
} from './attachment-notifications.policy.js';
import {
  type NotifiedConversation,
  notificationsOf,
  nothingNotified,
  withNotifiedChanges,
} from './conversation-notifications.policy.js';
import { oauthCodec } from '../../resources/tools/mcp/sign-in/oauth.codec.js';
import { type OAuthEvent, oauthStream } from '../../resources/tools/mcp/sign-in/oauth.events.js';
import {
  type Ingestion,
  ingestionNotification,
  noIngestion,
  progressNotification,
  withIngestionChangedBy,
} from './ingestion.policy.js';
import { JOB_EVENTS, jobNotification, type NotifiedJobEvent } from './job-notifications.policy.js';
import { isMonitorNotified, monitorNotification } from './monitor-notifications.policy.js';
import { MonitorStatuses } from './monitor-statuses.js';
import { SCHEDULE_EVENTS, scheduleNotification, type NotifiedScheduleEvent } from './schedule-notifications.policy.js';
import { SIGN_IN_EVENTS, signInNotification } from './tool-sign-in.policy.js';
import { UserEventsOptions } from './user-events-options.js';
import { UserJournal } from './user-journal.js';

/** Conversations whose state is remembered between two events of theirs. */
const CONVERSATIONS_REMEMBERED_MAX = 1_000;

type IngestEvent = SourceIngestRequested | SourceIngestCompleted | SourceIngestFailed;
type Published =
  | ConversationEvent
  | AttachmentEvent
  | IngestEvent
  | TaskProgressed
  | OAuthEvent
  | NotifiedScheduleEvent
  | NotifiedJobEvent
  | MonitorEvent;

/**
 * Tells users' open tabs what has changed of theirs. Steps: fold the event's stream as far as the event; ask the user's
 * stream whether this was told; append it there; wake the readers; the same for what else is to be told of the event. A crash
 * before an append repeats all of it, one after it finds it told: what is lost is a wake-up, and readers also look by themselves.
 */
@Injectable()
export class PublishUserEvents implements Reaction<Published> {
  readonly name = 'publish-user-events';
  readonly categories = ['conversation', 'attachment', 'source', 'task', 'oauth', 'schedule', 'job', 'monitor'];
  readonly codec: Codec<Published> = {
    ...conversationCodec,
    ...attachmentCodec,
    ...sourceCodec,
    ...taskCodec,
    ...oauthCodec,
    ...scheduleCodec,
    ...monitorCodec,
    ...jobCodec,
  };
  readonly on: ReactionHandlers<Published>;
  private readonly statuses: MonitorStatuses;
  private readonly known = new LRUCache<string, Readonly<{ revision: number; conversation: NotifiedConversation }>>({
    max: CONVERSATIONS_REMEMBERED_MAX,
  });

  constructor(
    private readonly store: EventStore,
    private readonly journal: UserJournal,
    { settings }: UserEventsOptions,
  ) {
    this.statuses = new MonitorStatuses(store);
    if (!settings.pushEnabled) {
      // It keeps up with the log all the same: what happened meanwhile is not told later.
      this.on = {};
      return;
    }
    const ofIngestion = (event: Recorded<IngestEvent>) => this.notifyOfIngestion(event);
    this.on = {
      ...(Object.fromEntries(
        // All of them, so that what is remembered of a conversation has no gaps.
        Object.keys(conversationCodec).map((type) => [
          type,
          (event: Recorded<ConversationEvent>) => this.notifyOfConversation(event),
        ]),
      ) as ReactionHandlers<Published>),
      SourceIngestRequested: ofIngestion,
      SourceIngestCompleted: ofIngestion,
      SourceIngestFailed: ofIngestion,
      ...(Object.fromEntries(
        Object.keys(attachmentCodec).map((type) => [type, (event: Recorded<AttachmentEvent>) => this.notifyOfAttachment(event)]),
      ) as ReactionHandlers<Published>),
      TaskProgressed: (event) => this.notifyOfProgress(event),
      ...(Object.fromEntries(
        // All of them, so that what is remembered of a monitor has no gaps.
        Object.keys(monitorCodec).map((type) => [type, (event: Recorded<MonitorEvent>) => this.notifyOfMonitor(event)]),
      ) as ReactionHandlers<Published>),
      ...(Object.fromEntries(
        SIGN_IN_EVENTS.map((type) => [type, (event: Recorded<OAuthEvent>) => this.notifyOfSignIn(event)]),
      ) as ReactionHandlers<Published>),
      ...(Object.fromEntries(
        SCHEDULE_EVENTS.map((type) => [type, (event: Recorded<NotifiedScheduleEvent>) => this.notifyOfSchedule(event)]),
      ) as ReactionHandlers<Published>),
      ...(Object.fromEntries(
        JOB_EVENTS.map((type) => [type, (event: Recorded<NotifiedJobEvent>) => this.notifyOfJob(event)]),
      ) as ReactionHandlers<Published>),
    };
  }

  private async notifyOfConversation(event: Recorded<ConversationEvent>): Promise<void> {
    const { conversationId } = event.data;
    const before = await this.newsBefore(event);
    const after = withNotifiedChanges(before, event);
    for (const { name, notification } of notificationsOf(before, after, event)) {
      await this.journal.notify(after.marked.ownerId, event, async () => notification, name);
    }
    this.known.set(conversationId, { revision: event.revision, conversation: after });
  }

  private async newsBefore(event: Recorded<ConversationEvent>): Promise<NotifiedConversation> {
    const known = this.known.get(event.data.conversationId);
    if (known?.revision === event.revision - 1) return known.conversation;
    return this.foldUpTo(event.stream, event.revision - 1, conversationCodec, nothingNotified, withNotifiedChanges);
  }

  private async notifyOfIngestion(event: Recorded<IngestEvent>): Promise<void> {
    const ingestion = await this.ingestion(event.data.sourceId, event.revision);
    await this.journal.notify(ingestion.ownerId, event, async () => ingestionNotification(ingestion, event));
  }

  private async notifyOfAttachment(event: Recorded<AttachmentEvent>): Promise<void> {
    const { stored } = await this.notifiedAttachment(event.data.attachmentId);
    if (stored) await this.journal.notify(stored.ownerId, event, async () => attachmentNotification(stored, event));
  }

  private async notifyOfProgress(event: Recorded<TaskProgressed>): Promise<void> {
    const { taskId, percent } = event.data;
    const first = await firstEvent(this.store, taskStream(taskId));
    const queued = first && decode<TaskEvent>(taskCodec, first);
    if (queued?.type !== 'TaskQueued') return;
    const { ownerId, input } = queued.data;
    const { sourceId, attachmentId } = input;
    if (typeof attachmentId === 'string') {
      const notification = async () => attachmentProgressNotification(await this.notifiedAttachment(attachmentId), percent);
      return this.journal.notify(ownerId, event, notification);
    }
    if (typeof sourceId !== 'string') return;
    // Asked after the user's stream: once the end of the ingestion was told, no progress of it is.
    await this.journal.notify(ownerId, event, async () => progressNotification(await this.ingestion(sourceId), taskId, percent));
  }

  private async notifyOfSignIn(event: Recorded<OAuthEvent>): Promise<void> {
    const first = await firstEvent(this.store, oauthStream(event.data.handshakeId));
    const started = first && decode<OAuthEvent>(oauthCodec, first);
    if (started?.type !== 'OAuthHandshakeStarted') return;
    await this.journal.notify(started.data.ownerId, event, async () => signInNotification(event));
  }

  private notifiedAttachment(attachmentId: string) {
    return this.foldUpTo(attachmentStream(attachmentId), undefined, attachmentCodec, noAttachment, withAttachmentEvent);
  }

  private async notifyOfSchedule(event: Recorded<NotifiedScheduleEvent>): Promise<void> {
    const first = await firstEvent(this.store, scheduleStream(event.data.scheduleId));
    const created = first && decode<ScheduleEvent>(scheduleCodec, first);
    if (created?.type !== 'ScheduleCreated') return;
    await this.journal.notify(created.data.ownerId, event, async () => scheduleNotification(event, created.data));
  }

  private async notifyOfJob(event: Recorded<NotifiedJobEvent>): Promise<void> {
    const first = await firstEvent(this.store, jobStream(event.data.jobId));
    const started = first && decode<JobEvent>(jobCodec, first);
    if (started?.type !== 'JobStarted') return;
    await this.journal.notify(event.data.ownerId, event, async () => jobNotification(event, started.data));
  }

  private async notifyOfMonitor(event: Recorded<MonitorEvent>): Promise<void> {
    const { before, after } = await this.statuses.around(event);
    if (!isMonitorNotified(before, event)) return;
    await this.journal.notify(after.ownerId, event, async () => monitorNotification(event.data.monitorId, after));
  }

  private ingestion(sourceId: string, upTo?: number): Promise<Ingestion> {
    return this.foldUpTo<Ingestion, SourceEvent>(sourceStream(sourceId), upTo, sourceCodec, noIngestion, withIngestionChangedBy);
  }

  /** What a stream had said when it said the event of that revision, or says now. */
  private async foldUpTo<State, E extends Event>(
    stream: string,
    revision: number | undefined,
    codec: Codec<E>,
    initial: State,
    evolve: (state: State, event: E) => State,
  ): Promise<State> {
    let state = initial;
    if (revision === -1) return state;
    for await (const page of this.store.read(stream, revision === undefined ? {} : { limit: revision + 1 })) {
      for (const stored of page) {
        const event = decode(codec, stored);
        if (event) state = evolve(state, event);
      }
    }
    return state;
  }
}
