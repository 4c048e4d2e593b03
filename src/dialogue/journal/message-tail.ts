import { Injectable } from '@nestjs/common';
import { FrameTail, type TurnToRun } from './frame-tail.port.js';
import { type FrameBatch, MessageFeed } from './message-feed.js';
import { TurnActivity } from './turn-activity.js';

/** The live caller reads what a reconnecting one reads. */
@Injectable()
export class MessageTail extends FrameTail {
  constructor(
    private readonly feed: MessageFeed,
    private readonly activity: TurnActivity,
  ) {
    super();
  }

  tail({ conversationId, turnId }: TurnToRun, after: number, signal: AbortSignal): AsyncIterable<FrameBatch> {
    return this.feed.tail(turnId, after, (terminalId) => this.activity.goesOn(conversationId, turnId, terminalId), signal);
  }
}
