import { jobNotifications } from '../../src/background/jobs/job.notifications.js';
import { conversationNotifications } from '../../src/dialogue/conversation/conversation.notifications.js';
import { attachmentNotifications } from '../../src/resources/attachments/attachment.notifications.js';
import { sourceNotifications } from '../../src/resources/sources/source/source.notifications.js';
import { signInNotifications } from '../../src/resources/tools/mcp/sign-in/oauth.notifications.js';
import { monitorNotifications } from '../../src/triggers/monitors/monitor/monitor.notifications.js';
import { scheduleNotifications } from '../../src/triggers/schedules/schedule/schedule.notifications.js';
import { NotificationRules } from '../../src/views/notifications/notification-rules.js';
import { PublishUserEvents } from '../../src/views/notifications/publish-user-events.reaction.js';
import { type UserEvent, userStream } from '../../src/views/notifications/user.events.js';
import { UserJournal } from '../../src/views/notifications/user-journal.js';
import { type Codec, currentVersion, decode, encodeMetadata } from '../../src/kernel/event-sourcing/codec.js';
import { StoreUnavailable } from '../../src/kernel/event-sourcing/event-store.js';
import type { Event, Recorded } from '../../src/kernel/event-sourcing/events.js';
import { newId } from '../../src/kernel/ids.js';
import { Streams } from '../../src/kernel/event-sourcing/streams.js';
import { sourceCodec } from '../../src/resources/sources/source/source.codec.js';
import { InProcessSignals } from '../../src/platform/messaging/signals/in-process-signals.js';
import { systemTiming } from '../../src/platform/system-timing.js';
import { InMemoryEventStore } from './in-memory-event-store.js';
import { cause, eventsOf } from './turns.js';
import { userEventsOptions } from './user-events.js';

const RULES_OF_ALL_ROOMS = new NotificationRules([
  ...attachmentNotifications,
  ...sourceNotifications,
  ...signInNotifications,
  ...conversationNotifications,
  ...scheduleNotifications,
  ...monitorNotifications,
  ...jobNotifications,
]);

/** The reaction that publishes user events, as in a process that has just started. */
export const reactionOver = (store: InMemoryEventStore, options = userEventsOptions(), rules = RULES_OF_ALL_ROOMS) =>
  new PublishUserEvents(
    store,
    new UserJournal(store, new Streams(store, systemTiming), new InProcessSignals(), options),
    options,
    rules,
  );

const ATTEMPTS_MAX = 10;

/** A log that loses every other response to an append of user events, before or after the write. */
export class LossyStoreForTests extends InMemoryEventStore {
  private losesNext = true;

  constructor(private readonly when: 'before' | 'after') {
    super();
  }

  override append(...given: Parameters<InMemoryEventStore['append']>) {
    if (given[0].startsWith('user-')) {
      if (this.losesNext) this.failNextAppend(this.when);
      this.losesNext = !this.losesNext;
    }
    return super.append(...given);
  }
}

/** Appends events to a stream, all in one append. */
export async function record(store: InMemoryEventStore, stream: string, ...events: readonly Event[]): Promise<void> {
  const before = (await eventsOf(store, stream)).length;
  const written = events.map(({ type, data }) => ({
    id: newId(),
    type,
    data: JSON.stringify(data),
    metadata: encodeMetadata(cause, currentVersion(sourceCodec as Codec, type)),
  }));
  await store.append(stream, before === 0 ? 'none' : before - 1, written);
}

/** Gives a reaction the events of a stream from a revision on, like its runner: an event whose handler fails is given again. */
export async function react(reaction: PublishUserEvents, store: InMemoryEventStore, stream: string, from = 0): Promise<void> {
  for (const stored of (await eventsOf(store, stream)).slice(from)) {
    const handler = reaction.on[stored.type] as ((event: Recorded) => Promise<void>) | undefined;
    for (let attempt = 1; ; attempt++) {
      try {
        await handler?.(decode(reaction.codec, stored) as Recorded);
        break;
      } catch (error) {
        if (!(error instanceof StoreUnavailable) || attempt === ATTEMPTS_MAX) throw error;
      }
    }
  }
}

export const notificationsOf = async (store: InMemoryEventStore, userId: string): Promise<UserEvent[]> =>
  (await eventsOf(store, userStream(userId))).map(({ data }) => JSON.parse(data) as UserEvent);
