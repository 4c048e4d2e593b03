import { Queries } from '../read-models.js';

/** `claimed`: the follow-up is delivered as soon as its conversation is free. */
export type FollowUpState = 'pending' | 'claimed' | 'delivered' | 'merged' | 'suppressed' | 'superseded' | 'failed';

/** A conversation with settled follow-ups. `since`: when the oldest of them was settled. */
export type OldFollowUpsOfConversation = Readonly<{ id: string; since: Date }>;

export class FollowUpQueries extends Queries {
  /** Conversations without an open turn and with an open follow-up, the longest waiting first. */
  async waiting(limit: number): Promise<readonly string[]> {
    const rows = await this.sql<{ conversation_id: string }[]>`
      select conversation_id from follow_ups.follow_up
      where state in ('pending', 'claimed') and not exists (
        select from follow_ups.turn_under_way under_way where under_way.conversation_id = follow_up.conversation_id
      )
      group by conversation_id order by min(requested_at), conversation_id limit ${limit}`;
    return rows.map(({ conversation_id: id }) => id);
  }

  /**
   * Conversations with a follow-up that was settled before a time, the oldest first. `after`: the last item of the previous page.
   */
  async settledBefore(
    before: Date,
    limit: number,
    after: OldFollowUpsOfConversation = { id: '', since: new Date(0) },
  ): Promise<readonly OldFollowUpsOfConversation[]> {
    return this.sql<OldFollowUpsOfConversation[]>`
      select conversation_id as id, min(settled_at) as since from follow_ups.follow_up where settled_at < ${before}
      group by conversation_id having (min(settled_at), conversation_id) > (${after.since}, ${after.id})
      order by since, id limit ${limit}`;
  }
}
