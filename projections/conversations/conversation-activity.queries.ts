import type { PendingCall } from '../../src/dialogue/conversation/conversation.events.js';
import { Queries } from '../read-models.js';

/** An answer that is queued or being generated. */
export type AnswerUnderWay = Readonly<{
  messageId: string;
  conversationId: string;
  agentId: string | null;
  title: string;
  status: 'asked' | 'running';
  askedAt: Date;
}>;

/** A turn that waits for its owner to approve or deny tool calls. */
export type ApprovalAwaited = Readonly<{
  messageId: string;
  conversationId: string;
  agentId: string | null;
  title: string;
  calls: readonly PendingCall[];
  since: Date;
  expiresAt: Date;
}>;

/** The current activity in a user's conversations, including conversations that are not listed. */
export class ConversationActivityQueries extends Queries {
  /** Answers that are queued or being generated, the newest first. */
  async answersUnderWay(ownerId: string, limit: number): Promise<readonly AnswerUnderWay[]> {
    return this.sql<AnswerUnderWay[]>`
      select ${this.about}, status, asked_at as "askedAt"
      from conversations.conversation join conversations.turn using (conversation_id)
      where owner_id = ${ownerId} and not superseded and ended is null and status in ('asked', 'running')
      order by asked_at desc, turn_id limit ${limit}`;
  }

  /** Turns that wait for an approval and have not expired by two clocks, the soonest to expire first. */
  async approvalsAwaited(ownerId: string, now: Date, limit: number): Promise<readonly ApprovalAwaited[]> {
    return this.sql<ApprovalAwaited[]>`
      select ${this.about}, pending as calls, changed_at as since, waits_until as "expiresAt"
      from conversations.conversation join conversations.turn using (conversation_id)
      where owner_id = ${ownerId} and not superseded and ended is null and status = 'paused' and needs_approval
        and waits_until > least(${now}, now())
      order by waits_until, turn_id limit ${limit}`;
  }

  private get about() {
    return this.sql`turn_id as "messageId", conversation_id as "conversationId", agent_id as "agentId", name as title`;
  }
}
