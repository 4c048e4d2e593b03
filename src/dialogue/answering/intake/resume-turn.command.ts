import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import type { Party } from '../../conversation/conversation-access.policy.js';
import { conversation } from '../../conversation/conversation.decider.js';
import { conversationStream } from '../../conversation/conversation.events.js';
import { type CallAnswer, resume } from '../../conversation/pause.decider.js';
import { Clock } from '../../../kernel/clock.js';
import type { Cause } from '../../../kernel/event-sourcing/events.js';
import { Streams } from '../../../kernel/event-sourcing/streams.js';

/** Somebody says what is to become of the calls a turn waits for; from here on it goes on, whoever crashes. */
export class ResumeTurn extends Command<{ position: bigint | undefined }> {
  constructor(
    readonly conversationId: string,
    readonly answers: readonly CallAnswer[],
    readonly by: Party,
    readonly cause: Cause,
  ) {
    super();
  }
}

@CommandHandler(ResumeTurn)
export class ResumeTurnHandler implements ICommandHandler<ResumeTurn> {
  constructor(
    private readonly streams: Streams,
    private readonly clock: Clock,
  ) {}

  /** @throws Rejection conversation-not-found, tool-call-not-pending, resume-in-progress, invalid-request */
  async execute({ conversationId, answers, by, cause }: ResumeTurn): Promise<{ position: bigint | undefined }> {
    const decide = resume(answers, by, this.clock.now());
    const { position } = await this.streams.transact(conversationStream(conversationId), conversation, decide, cause);
    return { position };
  }
}
