import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { encodeMetadata } from '../../kernel/event-sourcing/codec.js';
import { EventStore, type NewEvent, type StoredEvent } from '../../kernel/event-sourcing/event-store.js';
import { causedBy, type Recorded } from '../../kernel/event-sourcing/events.js';
import type { Notification } from '../../kernel/event-sourcing/notifications.js';
import { deterministicId } from '../../kernel/ids.js';
import { Signals } from '../../kernel/messaging/signals.js';
import { Streams } from '../../kernel/event-sourcing/streams.js';
import { idOf, userEventText } from './user-event.policy.js';
import { USER_EVENT, userStream } from './user.events.js';
import { UserEventsOptions } from './user-events-options.js';
import { userSubject } from './user-feed.js';

/** The number of users whose newest events are cached, and the number of cached events of each. */
const USERS_REMEMBERED_MAX = 1_000;
export const EVENTS_REMEMBERED_MAX = 300;
/** The maximum number of notifications of one user in one append. */
export const TOGETHER_MAX = 32;

/** Resolves to the notification. Undefined: there is nothing to report, or no longer. */
type Compose = () => Promise<Notification | undefined>;

/** A notification that waits to be written, or to be found written already. */
type Waiting = Readonly<{
  id: string;
  userId: string;
  about: Recorded;
  compose: Compose;
  resolve: () => void;
  reject: (error: unknown) => void;
}>;

/**
 * The end of a user's stream. `sources` has the ids of all its events whose source event has a position after `after`, with that
 * position.
 */
type Tail = { revision: number; millis: number; after: bigint; readonly sources: Map<string, bigint> };

/** The additional metadata of a user event. `about`: the position in the log of the event that it is about. */
type SourceMetadata = Readonly<{ about?: string }>;

/**
 * Writes the notifications of users, each once. The id of a notification is derived from its source event and its name among the
 * notifications of that event. It is written after its source event, so only the part of the user's stream since then can already
 * contain it. If some of that part is trimmed, the oldest event that is left decides: a notification about the same source event
 * or an earlier one was written before or is too old for the backlog, and is not written.
 */
@Injectable()
export class UserJournal {
  private readonly tails = new LRUCache<string, Tail>({ max: USERS_REMEMBERED_MAX });
  private readonly waiting = new Map<string, Waiting[]>();

  constructor(
    private readonly store: EventStore,
    private readonly streams: Streams,
    private readonly signals: Signals,
    private readonly options: UserEventsOptions,
  ) {}

  /**
   * Calls `compose` after it has read the end of the user's stream, and again after a conflict, so the state that `compose` sees
   * is never older than the user's last notification. `name` distinguishes several notifications of one event.
   * @throws StoreUnavailable the caller may retry, because the notification has the same id
   */
  notify(userId: string, about: Recorded, compose: Compose, name?: string): Promise<void> {
    const stream = userStream(userId);
    const id = deterministicId('user-event', about.id, ...(name === undefined ? [] : [name]));
    return new Promise((resolve, reject) => {
      const notice = { id, userId, about, compose, resolve, reject };
      const others = this.waiting.get(stream);
      if (others) return void others.push(notice);
      this.waiting.set(stream, [notice]);
      void this.writeAll(stream);
    });
  }

  /** Notifications that arrive during an append are written together in the next one. */
  private async writeAll(stream: string): Promise<void> {
    const waiting = this.waiting.get(stream)!;
    while (waiting.length > 0) {
      const together = waiting.splice(0, TOGETHER_MAX);
      try {
        const failed = await this.streams.race(stream, () => this.write(stream, together));
        for (const notice of together) {
          if (failed.has(notice)) notice.reject(failed.get(notice));
          else notice.resolve();
        }
      } catch (error) {
        for (const { reject } of together) reject(error);
      }
    }
    this.waiting.delete(stream);
  }

  /** Returns the notifications that could not be composed, with their errors. */
  private async write(stream: string, together: readonly Waiting[]): Promise<ReadonlyMap<Waiting, unknown>> {
    try {
      const tail = await this.tailSince(stream, earliest(together));
      const { told, failed } = await composed(together, tail);
      if (told.length === 0) return failed;
      const isFirst = tail.revision < 0;
      // The limit is set before the first event, because a crash between the two must not leave the stream without a limit.
      if (isFirst) await this.store.setRetention(stream, { maxCount: this.options.settings.eventsMax });
      const { revision } = await this.streams.appendEvents(
        stream,
        isFirst ? 'none' : tail.revision,
        told.map(({ event }) => event),
      );
      for (const { event, source } of told) remember(tail, event.id, source);
      tail.revision = revision;
      tail.millis = told.at(-1)!.millis;
      this.signals.publish(userSubject(stream), String(revision));
      return failed;
    } catch (error) {
      this.tails.delete(stream);
      throw error;
    }
  }

  private async tailSince(stream: string, position: bigint): Promise<Tail> {
    const known = this.tails.get(stream);
    const tail = known && known.after < position ? known : await this.read(stream, position);
    this.tails.set(stream, tail);
    return tail;
  }

  private async read(stream: string, since: bigint): Promise<Tail> {
    const newest: StoredEvent[] = [];
    reading: for await (const page of this.store.read(stream, { direction: 'backwards' })) {
      for (const event of page) {
        newest.push(event);
        if (event.position <= since) break reading;
      }
    }
    const [last] = newest;
    const oldest = newest.at(-1);
    const isTrimmed = oldest !== undefined && oldest.position > since && oldest.revision > 0;
    return {
      revision: last?.revision ?? -1,
      millis: last ? idOf(last).millis : 0,
      after: isTrimmed ? sourceOf(oldest) : since - 1n,
      sources: new Map(newest.reverse().map((event) => [event.id, sourceOf(event)])),
    };
  }
}

const earliest = (notices: readonly Waiting[]): bigint =>
  notices.map(({ about }) => about.position).reduce((one, other) => (other < one ? other : one));

/**
 * The events of notifications that are not written yet, in the order of the stream, and the notifications that could not be
 * composed.
 */
async function composed(together: readonly Waiting[], tail: Tail) {
  const appended: { event: NewEvent; source: bigint; millis: number }[] = [];
  const failed = new Map<Waiting, unknown>();
  const isAppended = (id: string) => tail.sources.has(id) || appended.some(({ event }) => event.id === id);
  for (const notice of together) {
    const { id, userId, about, compose } = notice;
    if (about.position <= tail.after || isAppended(id)) continue;
    try {
      const notification = await compose();
      if (!notification) continue;
      const millis = Math.max(appended.at(-1)?.millis ?? tail.millis, about.at.getTime());
      const data = userEventText(notification, userId, { millis, revision: tail.revision + 1 + appended.length });
      appended.push({ event: { id, type: USER_EVENT, data, metadata: metadataOf(about) }, source: about.position, millis });
    } catch (error) {
      failed.set(notice, error);
    }
  }
  return { told: appended, failed };
}

const metadataOf = (about: Recorded): string => {
  const cause = JSON.parse(encodeMetadata(causedBy(about, 'system:publish-user-events'))) as object;
  return JSON.stringify({ ...cause, about: String(about.position) } satisfies SourceMetadata);
};

/** The position of the source event of a user event. If it is unknown, the latest possible: just before the user event. */
function sourceOf({ metadata, position }: StoredEvent): bigint {
  const { about } = JSON.parse(metadata) as SourceMetadata;
  return about === undefined ? position - 1n : BigInt(about);
}

function remember(tail: Tail, id: string, source: bigint): void {
  tail.sources.set(id, source);
  for (const [oldest, of] of tail.sources) {
    if (tail.sources.size <= EVENTS_REMEMBERED_MAX) return;
    tail.sources.delete(oldest);
    if (of > tail.after) tail.after = of;
  }
}
