import { type OldFollowUpsOfConversation, type FollowUpQueries } from '../../../projections/follow-ups/follow-ups.queries.js';
import type { Clock } from '../../kernel/clock.js';
import type { Commands } from '../../kernel/commands.js';
import { eachOf } from '../../kernel/each-of.js';
import type { Cause } from '../../kernel/event-sourcing/events.js';
import type { RetentionRule } from '../../work/retention/retention-rule.port.js';
import { ExpireFollowUps } from './expired-follow-ups.commands.js';

/** Purges old follow-ups. The turns that reported them stay in their conversations. */
export class PurgeFollowUps implements RetentionRule<OldFollowUpsOfConversation> {
  readonly name = 'follow-ups';

  constructor(
    private readonly followUps: FollowUpQueries,
    private readonly commands: Commands,
    private readonly clock: Clock,
    private readonly retentionMs: number,
  ) {}

  due(now: Date, limit: number, after?: OldFollowUpsOfConversation): Promise<readonly OldFollowUpsOfConversation[]> {
    return this.followUps.settledBefore(this.keptSince(now), limit, after);
  }

  purge(due: readonly OldFollowUpsOfConversation[], cause: Cause): Promise<void> {
    const keptSince = this.keptSince(this.clock.now());
    return eachOf(due, ({ id }) => this.commands.execute(new ExpireFollowUps(id, keptSince, cause)));
  }

  private keptSince(now: Date): Date {
    return new Date(now.getTime() - this.retentionMs);
  }
}
