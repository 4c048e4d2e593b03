import { Injectable } from '@nestjs/common';
import { Commands } from '../../kernel/commands.js';
import { ConversationQueries } from '../../../projections/conversations/conversations.queries.js';
import { MonitorQueries } from '../../../projections/monitors/monitors.queries.js';
import { conversationCodec } from '../../dialogue/conversation/conversation.codec.js';
import type { ConversationDeleted, ConversationPurged } from '../../dialogue/conversation/conversation.events.js';
import type { Codec } from '../../kernel/event-sourcing/codec.js';
import { causedBy, type Recorded } from '../../kernel/event-sourcing/events.js';
import { Freshness, requireReached } from '../../kernel/event-sourcing/freshness.js';
import type { Reaction } from '../../kernel/event-sourcing/reaction.js';
import { CancelMonitorWith } from './monitor/monitor.commands.js';
import { monitorCodec } from './monitor/monitor.codec.js';
import type { MonitorCreated } from './monitor/monitor.events.js';

type Followed = ConversationDeleted | ConversationPurged | MonitorCreated;

/**
 * Cancels the monitors of a deleted conversation. Steps for a deleted conversation: wait until the read model has all earlier
 * monitors; cancel each. Steps for a new monitor: wait until the read model has all earlier deletions; cancel the monitor if its
 * conversation is gone. A crash in between repeats the steps for the rest.
 */
@Injectable()
export class CancelMonitorsOfConversation implements Reaction<Followed> {
  readonly name = 'cancel-monitors-of-conversation';
  readonly categories = ['conversation', 'monitor'];
  readonly codec: Codec<Followed> = { ...conversationCodec, ...monitorCodec };
  readonly on = {
    ConversationDeleted: (event: Recorded<ConversationDeleted>) => this.cancelAll(event),
    ConversationPurged: (event: Recorded<ConversationPurged>) => this.cancelAll(event),
    MonitorCreated: (event: Recorded<MonitorCreated>) => this.cancelIfAlone(event),
  };

  constructor(
    private readonly commands: Commands,
    private readonly monitors: MonitorQueries,
    private readonly conversations: ConversationQueries,
    private readonly freshness: Freshness,
  ) {}

  private async cancelAll(event: Recorded<ConversationDeleted | ConversationPurged>): Promise<void> {
    await requireReached(this.freshness, ['monitors'], event.position);
    for (const monitorId of await this.monitors.liveOfConversation(event.data.conversationId))
      await this.cancel(monitorId, event);
  }

  private async cancelIfAlone(event: Recorded<MonitorCreated>): Promise<void> {
    await requireReached(this.freshness, ['conversations'], event.position);
    const { monitorId, conversationId } = event.data;
    if (!(await this.conversations.isThere(conversationId))) await this.cancel(monitorId, event);
  }

  private cancel(monitorId: string, event: Recorded<Followed>): Promise<void> {
    return this.commands.execute(new CancelMonitorWith('conversation', monitorId, causedBy(event, `system:${this.name}`)));
  }
}
