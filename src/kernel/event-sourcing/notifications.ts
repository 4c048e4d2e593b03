import type { Codec } from './codec.js';
import type { Event, Recorded } from './events.js';
import type { SnapshotRule } from './snapshots.js';

/** What a user's open tabs are sent: something of the user's has changed, and this is what it is now. */
export type Notification<Type extends string = string, Kind extends string = string, Payload extends object = object> = Readonly<{
  type: Type;
  scope: Readonly<{ kind: Kind; id: string }>;
  payload: Readonly<Payload>;
}>;

/** The longest reason of a failure in a notification. */
export const REASON_CHARACTERS_MAX = 1024;

/** How a stream is folded for its notifications. */
export type Folding<E extends Event = Event, State = unknown> = Readonly<{
  codec: Codec<E>;
  initial: State;
  evolve: { by(state: State, event: E): State }['by'];
  snapshot?: SnapshotRule<E>;
}>;

/**
 * Another stream that a notification is about. It is folded when the end of the user's stream is known, so it says no less than
 * what the user has been sent. Undefined: the user has been sent its end, and nothing follows that.
 */
export type Subject<E extends Event = Event, State = unknown> = Folding<E, State> &
  Readonly<{ stream: string; notification: { of(state: State): Notification | undefined }['of'] }>;

export const subjectOf = <E extends Event, State>(subject: Subject<E, State>): Subject => subject;

/** One notification about an event. `name` is a part of its id, and tells it apart from others about the same event. */
export type Notice<N extends Notification = Notification> = Readonly<{ name?: string }> &
  (Readonly<{ notification: N }> | Readonly<{ subject: Subject }>);

/** What users are notified of when events of a category happen. */
export type NotificationRule<E extends Event = Event, State = unknown, About extends E['type'] = E['type']> = Folding<E, State> &
  Readonly<{
    category: string;
    /** The types of the events that users are notified of. */
    about: readonly About[];
    /** How many events at the start of the stream say all that the state needs; unless told, all up to the event. */
    foldedMax?: number;
    /** How many streams keep their state from one event to the next; none unless told. */
    cachedMax?: number;
    /** The user, or the users, who are notified of an event. Undefined: no user is. */
    ownerOf: {
      of(after: State, event: Recorded<Extract<E, { type: About }>>): string | readonly string[] | undefined;
    }['of'];
    noticesOf: { of(event: Recorded<Extract<E, { type: About }>>, before: State, after: State): readonly Notice[] }['of'];
  }>;

export const notificationRule = <E extends Event, State, About extends E['type']>(
  rule: NotificationRule<E, State, About>,
): NotificationRule => rule;
