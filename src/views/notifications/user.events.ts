import type { Notification } from '../../kernel/event-sourcing/notifications.js';
import { deterministicId } from '../../kernel/ids.js';

/** A notification as it is stored and sent. The stored text is the `data:` line, so the order of the fields matters. */
export type UserEvent<N extends Notification = Notification> = N &
  Readonly<{ ts: string; user_id: string; topic: string; id: string }>;

/** The type of every stored user event. Streams of users have no other events. */
export const USER_EVENT = 'UserEventPublished';

/** The stream of a user. It is named by a derived id, because a user's id may have characters that a stream's name may not. */
export const userStream = (userId: string): string => `user-${userKey(userId)}`;

/** An id of a user that has only letters, digits and hyphens. */
export const userKey = (userId: string): string => deterministicId('user', userId);
