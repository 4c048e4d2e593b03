import { REVISION_MAX, type StoredEvent } from '../../kernel/event-sourcing/event-store.js';
import type { Notification } from '../../kernel/event-sourcing/notifications.js';
import { sseData } from '../../platform/http/sse-data.policy.js';
import type { UserEvent } from './user.events.js';

/** The id of a user event on the wire, `<millis>-<revision>`. Ids of one stream grow in both parts. */
export type UserEventId = Readonly<{ millis: number; revision: number }>;

const idText = ({ millis, revision }: UserEventId): string => `${millis}-${revision}`;

const GRAMMAR = /^(\d+)(?:-(\d+))?$/;

/** Undefined when it is none. Milliseconds alone stand before all events of that millisecond; what is past all numbers is as good as the last. */
export function idIn(text: string): UserEventId | undefined {
  const [matched, millis, revision] = GRAMMAR.exec(text.trim()) ?? [];
  if (matched === undefined) return undefined;
  return {
    millis: Math.min(Number(millis), Number.MAX_SAFE_INTEGER),
    revision: revision === undefined ? -1 : Math.min(Number(revision), REVISION_MAX),
  };
}

export const isAfter = (one: UserEventId, other: UserEventId): boolean =>
  one.millis === other.millis ? one.revision > other.revision : one.millis > other.millis;

/** The id that a stored user event was given. */
export const idOf = ({ data }: Pick<StoredEvent, 'data'>): UserEventId => idIn((JSON.parse(data) as UserEvent).id)!;

/** The text that is stored and sent. */
export function userEventText({ type, scope, payload }: Notification, userId: string, id: UserEventId): string {
  const event = {
    type,
    ts: new Date(id.millis).toISOString(),
    user_id: userId,
    topic: `user:${userId}`,
    scope,
    payload,
    id: idText(id),
  };
  return sseData(event satisfies Record<keyof UserEvent, unknown>);
}

/** Tells a client that events it has not seen are gone: it fetches its state anew and goes on from this id. */
export type BacklogTruncated = Omit<UserEvent, 'type' | 'scope' | 'payload'> &
  Readonly<{
    type: 'backlog.truncated';
    scope: Readonly<Record<string, never>>;
    payload: Readonly<{ oldest_retained_id: string }>;
  }>;

export function truncatedText(userId: string, resumeAt: UserEventId, oldest: UserEventId | undefined, now: Date): string {
  const event: BacklogTruncated = {
    type: 'backlog.truncated',
    ts: now.toISOString(),
    user_id: userId,
    topic: `user:${userId}`,
    scope: {},
    payload: { oldest_retained_id: oldest ? idText(oldest) : '' },
    id: idText(resumeAt),
  };
  return sseData(event);
}

/** A user event as it goes over the wire. */
export const renderUserEvent = (id: UserEventId, data: string): string => `id: ${idText(id)}\ndata: ${data}\n\n`;
