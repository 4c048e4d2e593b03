import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { as, ask, conversation } from '../../conversation/conversation.decider.js';
import { conversationStream } from '../../conversation/conversation.events.js';
import type { Cause } from '../../../kernel/event-sourcing/events.js';
import { nothingYet, Streams } from '../../../kernel/event-sourcing/streams.js';
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

/** What asking comes to; throws what it would be refused for. */
export function decisionOf({ turnId, conversationId, question: asked, cause }: AskQuestion): ReturnType<typeof ask> {
  const { question, ownerId, agent, index, visibility, history, sharedUsage, settings } = asked;
  const { agentKeyId } = settings;
  const agentId = agent?.id ?? null;
  const turn = { conversationId, turnId, index, question, requestId: cause.correlationId, settings };
  if (!asked.conversationId) {
    const name = nameFor(question);
    return ask(turn, { conversationId, ownerId, agentId, agentKeyId, name, visibility, sharedUsage, history });
  }
  return as(agentId !== null && agentKeyId !== null ? { agentId, ownerId } : { userId: ownerId }, ask(turn, null));
}

@CommandHandler(AskQuestion)
export class AskQuestionHandler implements ICommandHandler<AskQuestion> {
  constructor(private readonly streams: Streams) {}

  async execute(command: AskQuestion): Promise<{ position: bigint | undefined }> {
    const stream = conversationStream(command.conversationId);
    const known = command.question.conversationId === undefined ? nothingYet(conversation) : undefined;
    const { position } = await this.streams.transact(stream, conversation, decisionOf(command), command.cause, known);
    return { position };
  }
}
