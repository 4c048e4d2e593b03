import { Injectable } from '@nestjs/common';
import { conversation, isOver } from '../conversation/conversation.decider.js';
import { type Conversation, isUnfinished, type Turn } from '../conversation/turn.policy.js';
import { conversationStream } from '../conversation/conversation.events.js';
import { Streams } from '../../kernel/event-sourcing/streams.js';

/**
 * What comes after a terminal frame. `what-is-written`: nothing that is not in the journal by now; the turn may have gone on to its
 * very end since the frame was read.
 */
export type Following = 'more' | 'what-is-written' | 'nothing';

/** What is to come for a message, decided on the conversation: a turn states its outcome before it shows its end. */
@Injectable()
export class TurnActivity {
  constructor(private readonly streams: Streams) {}

  /** What comes after a terminal frame without anybody being asked. */
  async follows(conversationId: string, turnId: string, terminalId: number): Promise<Following> {
    return following((await this.read(conversationId, turnId)).state, turnId, terminalId);
  }

  /** Whether no frames come after a terminal one, whatever anybody does. */
  async endsWith(conversationId: string, turnId: string, terminalId: number): Promise<boolean> {
    const { state, turn } = await this.read(conversationId, turnId);
    return turn === undefined || (isOver(state, turn) && !isEndOfPause(turn, terminalId));
  }

  private async read(conversationId: string, turnId: string) {
    const { state } = await this.streams.fold(conversationStream(conversationId), conversation);
    return { state, turn: state.turns.get(turnId) };
  }
}

/** As `TurnActivity.follows`, by a conversation that was read after the terminal frame. */
export function following({ status, turns }: Conversation, turnId: string, terminalId: number): Following {
  const turn = turns.get(turnId);
  // A snapshot leaves out what is over, and with it whether that ever paused.
  if (turn === undefined) return 'what-is-written';
  if (status === 'open') {
    if (isUnfinished(turn)) return 'more';
    // Its readers do not wait with it.
    if (turn.status === 'paused') return turn.pause !== null && terminalId < turn.pause.lastId ? 'more' : 'nothing';
    if (isEndOfPause(turn, terminalId) && !turn.sealed) return 'more';
  }
  return isEndOfPause(turn, terminalId) ? 'what-is-written' : 'nothing';
}

/** What was resumed, or ended after a pause, is shown further than the end of that pause. */
const isEndOfPause = ({ pause }: Turn, terminalId: number): boolean => pause !== null && terminalId <= pause.lastId;
