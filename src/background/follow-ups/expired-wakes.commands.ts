import { CommandHandler } from '@nestjs/cqrs';
import { Clock } from '../../kernel/clock.js';
import { Command, type Handler } from '../../kernel/commands.js';
import { decode } from '../../kernel/event-sourcing/codec.js';
import { EventStore } from '../../kernel/event-sourcing/event-store.js';
import type { Cause, Recorded } from '../../kernel/event-sourcing/events.js';
import { Streams } from '../../kernel/event-sourcing/streams.js';
import { expiredWakes, expireWakes } from './expired-wakes.decider.js';
import { expiredWakesStream } from './expired-wakes.events.js';
import { oldWakes } from './old-wakes.policy.js';
import { wakesCodec } from './wakes.codec.js';
import { type WakesEvent, wakesStream } from './wakes.events.js';

/** Of a conversation's wakes of which nothing more is to become since a time, nothing is kept. */
export class ExpireWakes extends Command<void> {
  constructor(
    readonly conversationId: string,
    readonly settledBefore: Date,
    readonly cause: Cause,
  ) {
    super();
  }
}

@CommandHandler(ExpireWakes)
export class ExpireWakesHandler implements Handler<ExpireWakes> {
  constructor(
    private readonly store: EventStore,
    private readonly streams: Streams,
    private readonly clock: Clock,
  ) {}

  async execute({ conversationId, settledBefore, cause }: ExpireWakes): Promise<void> {
    const old = oldWakes(await this.eventsOf(conversationId), settledBefore);
    const decision = expireWakes(conversationId, old, this.clock.now());
    await this.streams.transact(expiredWakesStream(conversationId), expiredWakes, decision, cause);
  }

  private async eventsOf(conversationId: string): Promise<readonly Recorded<WakesEvent>[]> {
    const events: Recorded<WakesEvent>[] = [];
    for await (const page of this.store.read(wakesStream(conversationId))) {
      events.push(...page.flatMap((stored) => decode<WakesEvent>(wakesCodec, stored) ?? []));
    }
    return events;
  }
}
