import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { encodeMetadata } from '../../kernel/event-sourcing/codec.js';
import { EventStore, type NewEvent, type StoredEvent } from '../../kernel/event-sourcing/event-store.js';
import { causedBy, type Recorded } from '../../kernel/event-sourcing/events.js';
import type { Notification } from '../../kernel/event-sourcing/notifications.js';
import { deterministicId } from '../../kernel/ids.js';
import { Signals } from '../../kernel/signals.js';
import { Streams } from '../../kernel/event-sourcing/streams.js';
import { idOf, userEventText } from './user-event.policy.js';
import { USER_EVENT, userStream } from './user.events.js';
import { UserEventsOptions } from './user-events-options.js';
import { userSubject } from './user-feed.js';

/** Users whose newest events are remembered, and how many of each. */
const USERS_REMEMBERED_MAX = 1_000;
export const EVENTS_REMEMBERED_MAX = 300;

/** What is to be told; undefined: nothing (more). */
type Compose = () => Promise<Notification | undefined>;

/** The end of a user's stream: where it is, and each event about what stands behind a position of the log, with what it is about. */
type Tail = { revision: number; millis: number; after: bigint; readonly sources: Map<string, bigint> };

/** Metadata of a user event also say where in the log stands what it is about. */
type SourceMetadata = Readonly<{ about?: string }>;

/**
 * Writes what users are told, each notification once. Its id comes from the event it is about and its name among what is
 * told of that event, and its place in the log lies after that event's: so whether it is there already is seen in the part
 * of the user's stream that was written since. Of what has left that part, the oldest that is kept says how far it went: what is
 * about that or about something before was told, or the backlog has gone past it, and nothing is written either.
 */
@Injectable()
export class UserJournal {
  private readonly tails = new LRUCache<string, Tail>({ max: USERS_REMEMBERED_MAX });

  constructor(
    private readonly store: EventStore,
    private readonly streams: Streams,
    private readonly signals: Signals,
    private readonly options: UserEventsOptions,
  ) {}

  /**
   * `compose` is asked when the end of the user's stream is known, and once more after a lost race: what it sees is no
   * older than everything the user has been told. Undefined: there is nothing (more) to tell. Where there is more than one
   * thing to say of an event, `name` tells them apart.
   * @throws StoreUnavailable: try again, it is the same notification
   */
  notify(userId: string, about: Recorded, compose: Compose, name?: string): Promise<void> {
    const stream = userStream(userId);
    const id = deterministicId('user-event', about.id, ...(name === undefined ? [] : [name]));
    return this.streams.race(stream, async () => {
      try {
        return await this.attempt(stream, userId, id, about, compose);
      } catch (error) {
        this.tails.delete(stream);
        throw error;
      }
    });
  }

  private async attempt(stream: string, userId: string, id: string, about: Recorded, compose: Compose) {
    const tail = await this.tailSince(stream, about.position);
    if (about.position <= tail.after || tail.sources.has(id)) return;
    const notification = await compose();
    if (!notification) return;
    const isFirst = tail.revision < 0;
    // Before the first event: were it after, a crash in between would leave the stream without bounds.
    if (isFirst) await this.store.setRetention(stream, { maxCount: this.options.settings.eventsMax });
    const place = { millis: Math.max(tail.millis, about.at.getTime()), revision: tail.revision + 1 };
    const event: NewEvent = {
      id,
      type: USER_EVENT,
      data: userEventText(notification, userId, place),
      metadata: metadataOf(about),
    };
    await this.streams.appendEvents(stream, isFirst ? 'none' : tail.revision, [event]);
    remember(tail, id, about.position);
    tail.revision = place.revision;
    tail.millis = place.millis;
    this.signals.publish(userSubject(stream), String(place.revision));
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

const metadataOf = (about: Recorded): string => {
  const cause = JSON.parse(encodeMetadata(causedBy(about, 'system:publish-user-events'))) as object;
  return JSON.stringify({ ...cause, about: String(about.position) } satisfies SourceMetadata);
};

/** Where what a user event is about stands; at the latest before the event itself. */
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
