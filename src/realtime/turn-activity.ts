import { Injectable } from '@nestjs/common';
import { conversation } from '../conversation/conversation.decider.js';
import { isUnfinished } from '../conversation/turn.policy.js';
import { conversationStream } from '../conversation/conversation.events.js';
import { Streams } from '../kernel/streams.js';

/** Whether more frames are to come for a message, decided on the conversation: a turn states its outcome before it shows its end. */
@Injectable()
export class TurnActivity {
  constructor(private readonly streams: Streams) {}

  async goesOn(conversationId: string, turnId: string): Promise<boolean> {
    const { state } = await this.streams.fold(conversationStream(conversationId), conversation);
    const turn = state.turns.get(turnId);
    return state.status === 'open' && turn !== undefined && isUnfinished(turn);
  }
}
