import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import type { Caller } from '../identity/caller.js';
import { Streams } from '../kernel/streams.js';
import { asAgent, asOwner, conversation, rate } from './conversation.decider.js';
import { conversationStream } from './conversation.events.js';

/** The owner, or whoever holds the key of the conversation's agent, says what they think of an answer; null takes it back. */
export class RateAnswer extends Command<bigint | undefined> {
  constructor(
    readonly conversationId: string,
    readonly caller: Caller,
    readonly index: number,
    readonly feedback: string | null,
  ) {
    super();
  }
}

@CommandHandler(RateAnswer)
export class RateAnswerHandler implements ICommandHandler<RateAnswer> {
  constructor(private readonly streams: Streams) {}

  async execute({ conversationId, caller, index, feedback }: RateAnswer): Promise<bigint | undefined> {
    const rating = rate(index, feedback);
    const decide = caller.kind === 'user' ? asOwner(caller.userId, rating) : asAgent(caller.agentId, caller.ownerId, rating);
    return (await this.streams.transact(conversationStream(conversationId), conversation, decide, caller.cause)).position;
  }
}
