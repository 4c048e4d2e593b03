import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { ask, conversation } from '../conversation/conversation.decider.js';
import { conversationStream } from '../conversation/conversation.events.js';
import type { Cause } from '../kernel/events.js';
import { Streams } from '../kernel/streams.js';
import { nameFor } from './question.policy.js';
import type { ResolvedQuestion } from './resolve-question.js';

/** A caller asks; from here on the question is in the log and will be answered, whoever crashes. */
export class AskQuestion extends Command<{ position: bigint | undefined }> {
  constructor(
    readonly turnId: string,
    readonly conversationId: string,
    readonly question: ResolvedQuestion,
    readonly cause: Cause,
  ) {
    super();
  }
}

@CommandHandler(AskQuestion)
export class AskQuestionHandler implements ICommandHandler<AskQuestion> {
  constructor(private readonly streams: Streams) {}

  async execute({ turnId, conversationId, question: asked, cause }: AskQuestion): Promise<{ position: bigint | undefined }> {
    const { question, ownerId, agent, index, visibility, history, sharedUsage, settings } = asked;
    const start = asked.conversationId
      ? null
      : { conversationId, ownerId, agentId: agent?.id ?? null, name: nameFor(question), visibility, sharedUsage, history };
    const turn = { conversationId, turnId, index, question, requestId: cause.correlationId, settings };
    const { position } = await this.streams.transact(conversationStream(conversationId), conversation, ask(turn, start), cause);
    return { position };
  }
}
