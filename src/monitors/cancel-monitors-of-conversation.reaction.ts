import { Injectable } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { MonitorQueries } from '../../projections/monitors/monitors.queries.js';
import { conversationCodec } from '../conversation/conversation.codec.js';
import type { ConversationDeleted } from '../conversation/conversation.events.js';
import type { Codec } from '../kernel/codec.js';
import { causedBy, type Recorded } from '../kernel/events.js';
import { Freshness, requireReached } from '../kernel/freshness.js';
import type { Reaction } from '../kernel/reaction.js';
import { CancelMonitorWithConversation } from './cancel-monitor-with-conversation.command.js';

/**
 * A conversation's monitors go with it. Steps: wait until the monitors of before are listed; cancel each. A crash in between
 * repeats it for those that are left.
 */
@Injectable()
export class CancelMonitorsOfConversation implements Reaction<ConversationDeleted> {
  readonly name = 'cancel-monitors-of-conversation';
  readonly categories = ['conversation'];
  readonly codec: Codec<ConversationDeleted> = conversationCodec;
  readonly on = { ConversationDeleted: (event: Recorded<ConversationDeleted>) => this.cancelAll(event) };

  constructor(
    private readonly commands: CommandBus,
    private readonly monitors: MonitorQueries,
    private readonly freshness: Freshness,
  ) {}

  private async cancelAll(event: Recorded<ConversationDeleted>): Promise<void> {
    await requireReached(this.freshness, ['monitors'], event.position);
    const cause = causedBy(event, `system:${this.name}`);
    for (const monitorId of await this.monitors.liveOfConversation(event.data.conversationId)) {
      await this.commands.execute(new CancelMonitorWithConversation(monitorId, cause));
    }
  }
}
