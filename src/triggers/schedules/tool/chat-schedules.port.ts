import type { Cause } from '../../../kernel/event-sourcing/events.js';
import type { TaskRequest } from '../schedule/task-definition.policy.js';

/** A chat and its owner. Its tasks are those of its agent, or, without an agent, those created in the chat. */
export type Chat = Readonly<{ ownerId: string; agentId: string | null; conversationId: string }>;

/** A one-time task. */
export type ChatTask = Readonly<{
  id: string;
  name: string | null;
  instruction: string;
  /** Null after its run has started. */
  runAt: string | null;
  timezone: string;
  status: string;
}>;

/** Maximum number of listed tasks, ordered by due time. */
export const TASKS_LISTED_MAX = 100;

/** Schedules one-time tasks for chats. */
export abstract class ChatSchedules {
  /** Creates a task. Repeating the call with the same id returns the first task. @throws Rejection invalid-schedule, too-many-schedules */
  abstract schedule(taskId: string, chat: Chat, asked: TaskRequest, cause: Cause): Promise<ChatTask>;
  /** The tasks that have not run yet. */
  abstract pending(chat: Chat): Promise<readonly ChatTask[]>;
  /** @throws Rejection schedule-not-found, schedule-terminal */
  abstract cancel(taskId: string, chat: Chat, cause: Cause): Promise<void>;
}
