import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import type { Caller } from '../../resources/identity/caller.js';
import { Streams } from '../../kernel/event-sourcing/streams.js';
import { as, conversation, rate } from './conversation.decider.js';
import { conversationStream } from './conversation.events.js';

/** Somebody whose conversation it is says what they think of an answer; null takes it back. */
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
    const decide = as(caller, rate(index, feedback));
    return (await this.streams.transact(conversationStream(conversationId), conversation, decide, caller.cause)).position;
  }
}
