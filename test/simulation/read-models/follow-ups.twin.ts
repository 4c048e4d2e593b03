import { removeFrom } from '../../../projections/projection.js';
import { followUps } from '../../../projections/follow-ups/follow-ups.projection.js';
import { FollowUpQueries } from '../../../projections/follow-ups/follow-ups.queries.js';
import type { ConversationEvent } from '../../../src/dialogue/conversation/conversation.events.js';
import type { ExpiredFollowUpsEvent } from '../../../src/background/follow-ups/expired-follow-ups.events.js';
import type { FollowUpsEvent } from '../../../src/background/follow-ups/follow-ups.events.js';
import { compared, TwinTables } from './twin-tables.js';

/** The queries of tickers for follow-ups, in memory. */
export class FollowUpsTwin extends FollowUpQueries {
  readonly tables = new TwinTables<FollowUpsEvent | ExpiredFollowUpsEvent | ConversationEvent, 'follow_up' | 'turn_under_way'>(
    followUps,
    {
      follow_up: { key: 'follow_up_id', times: ['requested_at', 'settled_at'] },
      turn_under_way: { key: 'turn_id', times: [] },
    },
    {
      ConversationDeleted: ({ data: { conversationId } }, tables) => {
        for (const turn of tables.all('turn_under_way')) {
          if (turn['conversation_id'] === conversationId)
            tables.change(removeFrom('turn_under_way', { turn_id: turn['turn_id'] }));
        }
      },
    },
  );

  constructor() {
    super(undefined as never);
  }

  override async waiting(limit: number): Promise<readonly string[]> {
    const busy = new Set(this.tables.all('turn_under_way').map((turn) => turn['conversation_id']));
    const oldest = new Map<string, Date>();
    for (const { conversation_id: id, state, requested_at: at } of this.tables.all('follow_up')) {
      const isWaiting = ['pending', 'claimed'].includes(state as string) && !busy.has(id);
      if (isWaiting && !((oldest.get(id as string) ?? at)! < at!)) oldest.set(id as string, at as Date);
    }
    const waiting = [...oldest].sort(([one, since], [other, until]) => compared([since, one], [until, other]));
    return waiting.slice(0, limit).map(([id]) => id);
  }
}
