import { type AnalyticsScope, type AnalyticsWindow, turnsOfAgent } from '../analytics-filters.js';
import { Queries } from '../read-models.js';

export type FeedbackOfBucket = Readonly<{ bucket: string; positive: number; negative: number }>;

/** The numbers of questions and of ratings of answers, without deleted conversations and superseded turns. */
export class MessageAnalyticsQueries extends Queries {
  async messages(scope: AnalyticsScope, { since, until, format }: AnalyticsWindow) {
    return this.sql<{ bucket: string; messages: number }[]>`
      select to_char(asked_at at time zone 'UTC', ${format}) as bucket, count(*)::integer as messages
      from ${this.turns(scope)} and asked_at >= ${since} and asked_at <= ${until}
      group by 1 order by 1`;
  }

  /** The ratings by bucket. A rating counts at the time at which it was given. */
  async feedback(scope: AnalyticsScope, { since, until, format }: AnalyticsWindow): Promise<readonly FeedbackOfBucket[]> {
    return this.sql<FeedbackOfBucket[]>`
      select to_char(feedback_at at time zone 'UTC', ${format}) as bucket,
        count(*) filter (where feedback = 'like')::integer as positive,
        count(*) filter (where feedback = 'dislike')::integer as negative
      from ${this.turns(scope)} and feedback_at >= ${since} and feedback_at <= ${until}
      group by 1 order by 1`;
  }

  private turns(scope: AnalyticsScope) {
    const { sql } = this;
    const of = 'agentId' in scope ? turnsOfAgent(sql, scope.agentId) : sql`owner_id = ${scope.ownerId}`;
    return sql`conversations.conversation join conversations.turn using (conversation_id) where ${of} and not superseded`;
  }
}
