import type { Cause } from '../../../kernel/event-sourcing/events.js';
import type { MonitorId } from './monitor.events.js';
import type { MonitorRequest } from './definition.policy.js';

/** A chat, and whose it is. */
export type MonitoredChat = Readonly<{ ownerId: string; agentId: string | null; conversationId: string }>;

/** A monitor as clients and models see it. */
export type MonitorView = Readonly<Record<string, unknown>>;

/** What a look found when the monitor was made, and what was made of what was asked for. */
export type MadeMonitor = Readonly<{ monitor: MonitorView; current: string; notes: readonly string[] }>;

/** Where chats have something watched, and go on by themselves when it happens. */
export abstract class ChatMonitors {
  /**
   * The same id twice is one monitor, as it was asked for first. `turnId`: where it is asked for.
   * @throws Rejection monitor-refused, too-many-monitors
   */
  abstract create(
    monitorId: MonitorId,
    chat: MonitoredChat & Readonly<{ turnId: string }>,
    asked: MonitorRequest,
    cause: Cause,
    signal: AbortSignal,
  ): Promise<MadeMonitor>;
  /** Those of the chat that are not over. */
  abstract list(chat: MonitoredChat): Promise<readonly MonitorView[]>;
  /** @throws Rejection monitor-not-found, monitor-over */
  abstract cancel(monitorId: MonitorId, chat: MonitoredChat, cause: Cause): Promise<MonitorView>;
}
