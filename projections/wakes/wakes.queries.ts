import { Injectable } from '@nestjs/common';
import type { WakeSource } from '../../src/background/follow-ups/wakes.port.js';
import { ReadModels } from '../read-models.js';

/** `claimed`: it is told as soon as its conversation is free. */
export type WakeState = 'pending' | 'claimed' | 'delivered' | 'folded' | 'suppressed' | 'superseded' | 'failed';

/** What had a conversation go on, or was to. */
export type WakeRecord = Readonly<{
  wakeId: string;
  conversationId: string;
  ownerId: string;
  source: WakeSource;
  /** The job or the monitor. */
  refId: string;
  dedupeKey: string;
  state: WakeState;
  /** Why it was suppressed, or failed. */
  reason: string | null;
  /** The first words of what the model was told. */
  textHead: string;
  /** The turn that tells of it. */
  turnId: string | null;
  requestedAt: Date;
  settledAt: Date | null;
}>;

export type WakeFilter = Readonly<{
  /** Requested then or later. */
  since?: Date;
  /** Requested before. */
  until?: Date;
  sources?: readonly WakeSource[];
  refId?: string;
}>;

/** A conversation with wakes of which nothing more is to become, and since when that is so of the oldest. */
export type OldWakesOfConversation = Readonly<{ id: string; since: Date }>;

@Injectable()
export class WakeQueries {
  constructor(private readonly readModels: ReadModels) {}

  /** A user's wakes, newest first. */
  async ofOwner(
    ownerId: string,
    { since, until, sources, refId }: WakeFilter,
    limit: number,
    offset = 0,
  ): Promise<readonly WakeRecord[]> {
    const { sql } = this.readModels;
    return sql<WakeRecord[]>`
      select wake_id as "wakeId", conversation_id as "conversationId", owner_id as "ownerId", source, ref_id as "refId",
        dedupe_key as "dedupeKey", state, reason, text_head as "textHead", turn_id as "turnId",
        requested_at as "requestedAt", settled_at as "settledAt"
      from wakes.wake
      where owner_id = ${ownerId}
        ${since ? sql`and requested_at >= ${since}` : sql``}
        ${until ? sql`and requested_at < ${until}` : sql``}
        ${sources ? sql`and source = any(${[...sources]})` : sql``}
        ${refId === undefined ? sql`` : sql`and ref_id = ${refId}`}
      order by requested_at desc, wake_id desc limit ${limit} offset ${offset}`;
  }

  /** Conversations of which nobody asks anything now and with a wake from before a time, the longest waiting first. */
  async due(requestedBefore: Date, limit: number): Promise<readonly string[]> {
    const rows = await this.readModels.sql<{ conversation_id: string }[]>`
      select conversation_id from wakes.wake
      where state in ('pending', 'claimed') and requested_at <= ${requestedBefore} and not exists (
        select from wakes.turn_under_way under_way where under_way.conversation_id = wake.conversation_id
      )
      group by conversation_id order by min(requested_at), conversation_id limit ${limit}`;
    return rows.map(({ conversation_id: id }) => id);
  }

  /** Conversations with a wake that was settled before a time, those of longest ago first, after the last of the page before. */
  async settledBefore(
    before: Date,
    limit: number,
    after: OldWakesOfConversation = { id: '', since: new Date(0) },
  ): Promise<readonly OldWakesOfConversation[]> {
    return this.readModels.sql<OldWakesOfConversation[]>`
      select conversation_id as id, min(settled_at) as since from wakes.wake where settled_at < ${before}
      group by conversation_id having (min(settled_at), conversation_id) > (${after.since}, ${after.id})
      order by since, id limit ${limit}`;
  }
}
