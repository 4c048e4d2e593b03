import { Injectable } from '@nestjs/common';
import { Clock } from '../../kernel/clock.js';
import { EventStore, lastEvent, type StoredEvent } from '../../kernel/event-sourcing/event-store.js';
import { idOf, isAfter, type UserEventId } from './user-event.policy.js';
import { UserEventsOptions } from './user-events-options.js';

/** The place where a connection begins to read. */
export type Beginning = Readonly<{
  /** The last revision that is not sent to this connection. */
  after: number;
  /** The newest revision at the start. Later events are live. */
  head: number;
  /**
   * Set if events after the cursor are deleted: the id from which the client resumes, and the first event that is left, if any.
   */
  truncated?: Readonly<{ resumeAt: UserEventId; oldest: UserEventId | undefined }>;
}>;

/** Finds the place of a cursor in the stored events of a user. */
@Injectable()
export class UserBacklog {
  constructor(
    private readonly store: EventStore,
    private readonly clock: Clock,
    private readonly options: UserEventsOptions,
  ) {}

  /** The place to begin. Without a cursor, or with one past the end, only new events follow. */
  async beginning(stream: string, cursor: UserEventId | undefined): Promise<Beginning> {
    const last = await lastEvent(this.store, stream);
    const head = last?.revision ?? -1;
    if (!cursor || !last || !isAfter(idOf(last), cursor)) return { after: head, head };
    const { event: next, isComplete } = (await this.nextAfter(stream, cursor)) ?? { event: last, isComplete: false };
    const oldest = await this.firstYoungEnough(stream, next);
    if (!oldest) return { after: head, head, truncated: { resumeAt: idOf(last), oldest: undefined } };
    const after = oldest.revision - 1;
    if (isComplete && oldest.revision === next.revision) return { after, head };
    const id = idOf(oldest);
    return { after, head, truncated: { resumeAt: { millis: id.millis, revision: after }, oldest: id } };
  }

  /** The first stored event after the cursor, and whether no event between the two is missing. */
  private async nextAfter(stream: string, cursor: UserEventId) {
    for await (const [here, next] of this.store.read(stream, { from: Math.max(0, cursor.revision), limit: 2 })) {
      const isThere = here && next && !isAfter(idOf(here), cursor) && !isAfter(cursor, idOf(here));
      if (isThere) return { event: next, isComplete: true };
      break;
    }
    let before: StoredEvent | undefined;
    for await (const page of this.store.read(stream)) {
      for (const event of page) {
        if (isAfter(idOf(event), cursor)) return { event, isComplete: before !== undefined || isNothingBefore(event, cursor) };
        before = event;
      }
    }
    return undefined;
  }

  private async firstYoungEnough(stream: string, from: StoredEvent): Promise<StoredEvent | undefined> {
    const since = this.clock.now().getTime() - this.options.settings.ageMaxMs;
    if (idOf(from).millis >= since) return from;
    for await (const page of this.store.read(stream, { from: from.revision })) {
      const found = page.find((event) => idOf(event).millis >= since);
      if (found) return found;
    }
    return undefined;
  }
}

/** Whether the client misses no event before this oldest stored one: there were none, or its cursor is the last of them. */
const isNothingBefore = ({ revision }: StoredEvent, cursor: UserEventId): boolean =>
  revision === 0 || cursor.revision === revision - 1;
