import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import type { Cause } from '../kernel/events.js';
import { Streams } from '../kernel/streams.js';
import { asOwner, conversation, rate } from './conversation.decider.js';
import { conversationStream } from './conversation.events.js';

/** The owner says what they think of an answer; null takes it back. */
export class RateAnswer extends Command<bigint | undefined> {
  constructor(
    readonly conversationId: string,
    readonly ownerId: string,
    readonly index: number,
    readonly feedback: string | null,
    readonly cause: Cause,
  ) {
    super();
  }
}

@CommandHandler(RateAnswer)
export class RateAnswerHandler implements ICommandHandler<RateAnswer> {
  constructor(private readonly streams: Streams) {}

  async execute({ conversationId, ownerId, index, feedback, cause }: RateAnswer): Promise<bigint | undefined> {
    const decide = asOwner(ownerId, rate(index, feedback));
    return (await this.streams.transact(conversationStream(conversationId), conversation, decide, cause)).position;
  }
}
