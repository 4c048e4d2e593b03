import type { FollowUpState } from '../../src/background/follow-ups/follow-ups.port.js';
import { Queries } from '../read-models.js';

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

  /** The states of these follow-ups. Those that are unknown or purged are left out. */
  async statesOf(followUpIds: readonly string[]): Promise<ReadonlyMap<string, FollowUpState>> {
    const rows = await this.sql<{ id: string; state: FollowUpState }[]>`
      select follow_up_id as id, state from follow_ups.follow_up where follow_up_id = any (${[...followUpIds]}::text[])`;
    return new Map(rows.map(({ id, state }) => [id, state]));
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
