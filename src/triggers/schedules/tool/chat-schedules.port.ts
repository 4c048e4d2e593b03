import type { Cause } from '../../../kernel/event-sourcing/events.js';
import type { TaskRequest } from '../schedule/task-definition.policy.js';

/** A chat, and whose it is. Its tasks are those of its agent's chats; without an agent, those that were made in it. */
export type Chat = Readonly<{ ownerId: string; agentId: string | null; conversationId: string }>;

/** Something that is to be done once. */
export type ChatTask = Readonly<{
  id: string;
  name: string | null;
  instruction: string;
  /** Null once its run has begun. */
  runAt: string | null;
  timezone: string;
  status: string;
}>;

/** Tasks listed at once, those that are due first. */
export const TASKS_LISTED_MAX = 100;

/** Where chats have things done later. */
export abstract class ChatSchedules {
  /** The same id twice is one task, as it was asked for first. @throws Rejection invalid-schedule, too-many-schedules */
  abstract schedule(taskId: string, chat: Chat, asked: TaskRequest, cause: Cause): Promise<ChatTask>;
  /** The tasks that are still to come. */
  abstract pending(chat: Chat): Promise<readonly ChatTask[]>;
  /** @throws Rejection schedule-not-found, schedule-terminal */
  abstract cancel(taskId: string, chat: Chat, cause: Cause): Promise<void>;
}
