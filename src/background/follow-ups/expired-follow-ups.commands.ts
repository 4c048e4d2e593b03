import { CommandHandler } from '@nestjs/cqrs';
import { Clock } from '../../kernel/clock.js';
import { Command, type Handler } from '../../kernel/commands.js';
import { recordedEvents } from '../../kernel/event-sourcing/codec.js';
import { EventStore } from '../../kernel/event-sourcing/event-store.js';
import type { Cause } from '../../kernel/event-sourcing/events.js';
import { Streams } from '../../kernel/event-sourcing/streams.js';
import { expiredFollowUps, expireFollowUps } from './expired-follow-ups.decider.js';
import { expiredFollowUpsStream } from './expired-follow-ups.events.js';
import { oldFollowUps } from './old-follow-ups.policy.js';
import { followUpsCodec } from './follow-ups.codec.js';
import { followUpsStream } from './follow-ups.events.js';

/** Purges the follow-ups of a conversation that ended before a time. */
export class ExpireFollowUps extends Command<void> {
  constructor(
    readonly conversationId: string,
    readonly settledBefore: Date,
    readonly cause: Cause,
  ) {
    super();
  }
}

@CommandHandler(ExpireFollowUps)
export class ExpireFollowUpsHandler implements Handler<ExpireFollowUps> {
  constructor(
    private readonly store: EventStore,
    private readonly streams: Streams,
    private readonly clock: Clock,
  ) {}

  async execute({ conversationId, settledBefore, cause }: ExpireFollowUps): Promise<void> {
    const old = oldFollowUps(await recordedEvents(this.store, followUpsStream(conversationId), followUpsCodec), settledBefore);
    const decision = expireFollowUps(conversationId, old, this.clock.now());
    await this.streams.transact(expiredFollowUpsStream(conversationId), expiredFollowUps, decision, cause);
  }
}
