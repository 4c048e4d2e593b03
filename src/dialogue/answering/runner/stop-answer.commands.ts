import { CommandHandler } from '@nestjs/cqrs';
import { Command, type Handler } from '../../../kernel/commands.js';
import type { Cause } from '../../../kernel/event-sourcing/events.js';
import { Streams } from '../../../kernel/event-sourcing/streams.js';
import { Rejection } from '../../../kernel/rejection.js';
import { Signals } from '../../../kernel/signals.js';
import { conversation, requestStop } from '../../conversation/conversation.decider.js';
import { conversationStream } from '../../conversation/conversation.events.js';
import { stopSubject } from '../../conversation/turn.policy.js';

/**
 * A user wants a running answer to stop, or may not have it any more. Once accepted, the answer does end stopped: the promise is in the
 * log. A user is refused where the runner would hear of it late, because messaging is down.
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
