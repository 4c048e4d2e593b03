import type { Codec } from './codec.js';
import type { Event, Recorded } from './events.js';
import type { SnapshotRule } from './snapshots.js';

/** A notification for a user's open tabs: the type of a change and the new values. */
export type Notification<Type extends string = string, Kind extends string = string, Payload extends object = object> = Readonly<{
  type: Type;
  scope: Readonly<{ kind: Kind; id: string }>;
  payload: Readonly<Payload>;
}>;

/** Maximum length of a failure reason in a notification, in characters. */
export const REASON_CHARACTERS_MAX = 1024;

/** How a stream is folded for notifications. */
export type Folding<E extends Event = Event, State = unknown> = Readonly<{
  codec: Codec<E>;
  initial: State;
  evolve: { by(state: State, event: E): State }['by'];
  snapshot?: SnapshotRule<E>;
}>;

/**
 * Another stream that a notification is about. It is folded after the end of the user's stream is known, so its state is at least
 * as new as what the user was sent. Undefined: the user was sent the final notification, and none may follow.
 */
export type Subject<E extends Event = Event, State = unknown> = Folding<E, State> &
  Readonly<{ stream: string; notification: { of(state: State): Notification | undefined }['of'] }>;

export const subjectOf = <E extends Event, State>(subject: Subject<E, State>): Subject => subject;

/** A notification about an event. `name` is a part of its id and distinguishes several notifications about one event. */
export type Notice<N extends Notification = Notification> = Readonly<{ name?: string }> &
  (Readonly<{ notification: N }> | Readonly<{ subject: Subject }>);

/** The rule by which users are notified of the events of a category. */
export type NotificationRule<E extends Event = Event, State = unknown, About extends E['type'] = E['type']> = Folding<E, State> &
  Readonly<{
    category: string;
    /** The event types that cause notifications. */
    about: readonly About[];
    /** Number of events at the start of the stream that the state needs; by default all up to the event. */
    foldedMax?: number;
    /** Number of streams whose state is cached between events; 0 by default. */
    cachedMax?: number;
    /** The users who are notified of an event; undefined for none. */
    ownerOf: {
      of(after: State, event: Recorded<Extract<E, { type: About }>>): string | readonly string[] | undefined;
    }['of'];
    noticesOf: { of(event: Recorded<Extract<E, { type: About }>>, before: State, after: State): readonly Notice[] }['of'];
  }>;

export const notificationRule = <E extends Event, State, About extends E['type']>(
  rule: NotificationRule<E, State, About>,
): NotificationRule => rule;
