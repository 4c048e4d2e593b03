import type { Mark } from '../../dialogue/conversation/conversation-mark.policy.js';
import type { JobStatus } from '../../background/jobs/job.policy.js';
import { deterministicId } from '../../kernel/ids.js';
import type { RemoteKind } from '../../resources/sources/source/source.events.js';

type About<Type extends string, Kind extends string, Payload> = Readonly<{
  type: Type;
  scope: Readonly<{ kind: Kind; id: string }>;
  payload: Readonly<Payload>;
}>;

type Ingestion =
  | { source_id: string; job_name: string; filename: string; operation: 'upload' | 'reingest' }
  | { source_id: string; job_name: string; loader: RemoteKind; operation: 'upload' | 'sync' };

type Attached = { attachment_id: string; filename: string };

type ScheduledRun = { run_id: string; schedule_id: string; agent_id: string | null; trigger_type: 'once' | 'recurring' };

/** Why nobody is to approve a turn's calls any more: somebody decided, nobody came in time, or the conversation is past it. */
export type ApprovalEnd = 'decided' | 'expired' | 'moved_on';

/** What a user's open tabs are told: that something of theirs has changed, and what it is now. */
export type Notification =
  | About<'source.ingest.queued', 'source', Ingestion>
  | About<
      'source.ingest.progress',
      'source',
      { source_id: string; current: number; total: number; stage: 'parsing' | 'embedding'; files_done: number }
    >
  | About<'source.ingest.completed', 'source', Ingestion & { tokens: number; limited: false; warnings?: readonly string[] }>
  | About<'source.ingest.failed', 'source', Ingestion & { error: string }>
  | About<'attachment.queued', 'attachment', Attached>
  | About<'attachment.progress', 'attachment', Attached & { current: number; stage: 'processing' | 'storing' }>
  | About<'attachment.completed', 'attachment', Attached & { token_count: number; mime_type: string }>
  | About<'attachment.failed', 'attachment', Attached & { error: string }>
  | About<
      'tool.approval.required',
      'conversation',
      {
        conversation_id: string;
        message_id: string;
        pending_tool_calls: readonly { call_id: string; tool_name: string; action_name: string; name: string }[];
        expires_at: string;
      }
    >
  | About<'tool.approval.cleared', 'conversation', { conversation_id: string; message_id: string; reason: ApprovalEnd }>
  | About<'mcp.oauth.in_progress', 'mcp_oauth', { task_id: string; message: string }>
  | About<'mcp.oauth.awaiting_redirect', 'mcp_oauth', { task_id: string; message: string; authorization_url: string }>
  | About<
      'mcp.oauth.completed',
      'mcp_oauth',
      { task_id: string; tools: readonly { name: string; description: string }[]; tools_count: number }
    >
  | About<'mcp.oauth.failed', 'mcp_oauth', { task_id: string; error: string }>
  | About<'schedule.run.completed', 'schedule', ScheduledRun & { status: 'success' }>
  | About<'schedule.run.failed', 'schedule', ScheduledRun & { status: 'failed' | 'timeout'; error_type?: string }>
  | About<'schedule.autopaused', 'schedule', ScheduledRun & { status: 'paused'; consecutive_failure_count: number }>
  | About<'schedule.created', 'schedule', { schedule_id: string; status: 'active' }>
  | About<'schedule.changed' | 'schedule.deleted', 'schedule', { schedule_id: string }>
  | About<'schedule.paused', 'schedule', { schedule_id: string; status: 'paused' }>
  | About<'schedule.resumed', 'schedule', { schedule_id: string; status: 'active' }>
  | About<'schedule.completed', 'schedule', { schedule_id: string; status: 'completed' }>
  | About<
      'schedule.message.appended',
      'conversation',
      { conversation_id: string; message_id: string; schedule_id: string; run_id: string; position: number }
    >
  | About<'conversation.continued', 'conversation', { conversation_id: string; message_id: string; source: string }>
  | About<'schedule.cancelled', 'schedule', { schedule_id: string; status: 'cancelled' }>
  | About<
      'job.updated',
      'conversation',
      {
        job_id: string;
        conversation_id: string;
        status: JobStatus;
        progress: Readonly<Record<string, never>>;
        tool_name: string;
        action_name: string;
      }
    >
  | About<
      'monitor.updated',
      'monitor',
      {
        monitor_id: string;
        status: 'active' | 'paused' | 'completed' | 'cancelled';
        wakes_left: number;
        last_checked_at: string | null;
        conversation_id: string;
        check_count: number;
        last_error: string | null;
      }
    >
  | About<'conversation.mark', 'conversation', { conversation_id: string; mark: Mark | null }>;

/** An notification as it is stored and sent, in this order: the stored text is the `data:` line. */
export type UserEvent = Notification & Readonly<{ ts: string; user_id: string; topic: string; id: string }>;

/** The type under which every user event is stored: their streams hold nothing else. */
export const USER_EVENT = 'UserEventPublished';

/** A user may have any text for an id, a stream may not have any text for a name. */
export const userStream = (userId: string): string => `user-${userKey(userId)}`;

/** Stands for a user wherever a plain token is needed. */
export const userKey = (userId: string): string => deterministicId('user', userId);
