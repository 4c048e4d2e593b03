import { Injectable } from '@nestjs/common';
import { Commands } from '../../kernel/commands.js';
import { ScheduleQueries } from '../../../projections/schedules/schedules.queries.js';
import { conversationCodec } from '../../dialogue/conversation/conversation.codec.js';
import type { ConversationDeleted, ConversationPurged } from '../../dialogue/conversation/conversation.events.js';
import type { Codec } from '../../kernel/event-sourcing/codec.js';
import { causedBy, type Recorded } from '../../kernel/event-sourcing/events.js';
import { Freshness, requireReached } from '../../kernel/event-sourcing/freshness.js';
import type { Reaction } from '../../kernel/event-sourcing/reaction.js';
import { Rejection } from '../../kernel/rejection.js';
import { CancelSchedule } from './schedule/schedule.commands.js';

type Followed = ConversationDeleted | ConversationPurged;

/**
 * Cancels the tasks of a deleted chat without an agent, which could not be seen any more. Schedules that were made in a chat with
 * an agent stay with the agent. Steps: wait until the schedules of before are listed; cancel each. A crash in between repeats it
 * for those that are left.
 */
@Injectable()
export class CancelSchedulesOfConversation implements Reaction<Followed> {
  readonly name = 'cancel-schedules-of-conversation';
  readonly categories = ['conversation'];
  readonly codec: Codec<Followed> = conversationCodec;
  readonly on = {
    ConversationDeleted: (event: Recorded<ConversationDeleted>) => this.cancelAll(event),
    ConversationPurged: (event: Recorded<ConversationPurged>) => this.cancelAll(event),
  };

  constructor(
    private readonly commands: Commands,
    private readonly schedules: ScheduleQueries,
    private readonly freshness: Freshness,
  ) {}

  private async cancelAll(event: Recorded<Followed>): Promise<void> {
    await requireReached(this.freshness, ['schedules'], event.position);
    const cause = causedBy(event, `system:${this.name}`);
    for (const { id, ownerId } of await this.schedules.openOfChat(event.data.conversationId)) {
      await this.commands.execute(new CancelSchedule(id, ownerId, cause)).catch(unlessGone);
    }
  }
}

/** The list may be older than the deletion. */
function unlessGone(error: unknown): void {
  if (!(error instanceof Rejection) || error.code !== 'schedule-not-found') throw error;
}
