import { CommandHandler } from '@nestjs/cqrs';
import { Command, type Handler } from '../../../kernel/commands.js';
import type { Cause } from '../../../kernel/event-sourcing/events.js';
import { Streams } from '../../../kernel/event-sourcing/streams.js';
import { Rejection } from '../../../kernel/rejection.js';
import { Signals } from '../../../kernel/messaging/signals.js';
import { conversation } from '../../conversation/conversation.decider.js';
import { requestStop } from '../../conversation/turn.decider.js';
import { conversationStream } from '../../conversation/conversation.events.js';
import { stopSubject } from '../../conversation/turn.policy.js';

/**
 * Stops a running answer because a user requests it or because the user's access has ended. The request is stored in the log, so
 * an accepted request always ends the answer as stopped. A user's request is refused while messaging is down, because the runner
 * would notice it late.
 */
export class StopAnswer extends Command<void> {
  constructor(
    readonly conversationId: string,
    readonly turnId: string,
    readonly cause: Cause,
    readonly reason: 'requested' | 'access-ended' = 'requested',
  ) {
    super();
  }
}

@CommandHandler(StopAnswer)
export class StopAnswerHandler implements Handler<StopAnswer> {
  constructor(
    private readonly streams: Streams,
    private readonly signals: Signals,
  ) {}

  async execute({ conversationId, turnId, cause, reason }: StopAnswer): Promise<void> {
    if (reason === 'requested' && !this.signals.healthy)
      throw new Rejection('unavailable', 'The answer cannot be reached right now.');
    await this.streams.transact(conversationStream(conversationId), conversation, requestStop(turnId), cause);
    this.signals.publish(stopSubject(turnId), '');
  }
}
