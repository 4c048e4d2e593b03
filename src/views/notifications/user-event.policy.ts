import { REVISION_MAX, type StoredEvent } from '../../kernel/event-sourcing/event-store.js';
import type { Notification } from '../../kernel/event-sourcing/notifications.js';
import { sseData } from '../../platform/http/sse-data.policy.js';
import type { UserEvent } from './user.events.js';

/** The id of a user event on the wire, `<millis>-<revision>`. Ids of one stream grow in both parts. */
export type UserEventId = Readonly<{ millis: number; revision: number }>;

const idText = ({ millis, revision }: UserEventId): string => `${millis}-${revision}`;

const GRAMMAR = /^(\d+)(?:-(\d+))?$/;

/**
 * The id in a text. Undefined if it is not an id. Without a revision, the id precedes all events of that millisecond. Numbers
 * that are too large become the largest.
 */
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

export const idOf = ({ data }: Pick<StoredEvent, 'data'>): UserEventId => idIn((JSON.parse(data) as UserEvent).id)!;

/** The JSON text that is stored and sent. */
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

/** Reports that events which the client has not received are deleted. The client reloads its state and continues from this id. */
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

/** A user event in the format of Server-Sent Events. */
export const renderUserEvent = (id: UserEventId, data: string): string => `id: ${idText(id)}\ndata: ${data}\n\n`;
