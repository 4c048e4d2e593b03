import type { Notification } from '../../kernel/event-sourcing/notifications.js';
import { deterministicId } from '../../kernel/ids.js';

/** A notification as it is stored and sent, in this order: the stored text is the `data:` line. */
export type UserEvent<N extends Notification = Notification> = N &
  Readonly<{ ts: string; user_id: string; topic: string; id: string }>;

/** The type under which every user event is stored: their streams hold nothing else. */
export const USER_EVENT = 'UserEventPublished';

/** A user may have any text for an id, a stream may not have any text for a name. */
export const userStream = (userId: string): string => `user-${userKey(userId)}`;

/** Stands for a user wherever a plain token is needed. */
export const userKey = (userId: string): string => deterministicId('user', userId);
