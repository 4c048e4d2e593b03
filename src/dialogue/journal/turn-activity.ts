import { Injectable } from '@nestjs/common';
import { conversation } from '../conversation/conversation.decider.js';
import { isOver } from '../conversation/turn.decider.js';
import { type Conversation, isUnfinished, type Turn } from '../conversation/turn.policy.js';
import { conversationStream } from '../conversation/conversation.events.js';
import { Streams } from '../../kernel/event-sourcing/streams.js';

/**
 * What follows a terminal frame. `what-is-written`: only frames that the journal already has, because the turn may have continued
 * to its end after the frame was read.
 */
export type Following = 'more' | 'what-is-written' | 'nothing';

/** Decides from the conversation what follows in a journal. A turn records its outcome before it shows its end. */
@Injectable()
export class TurnActivity {
  constructor(private readonly streams: Streams) {}

  /** What follows a terminal frame without an action of a user. */
  async follows(conversationId: string, turnId: string, terminalId: number): Promise<Following> {
    return following((await this.read(conversationId, turnId)).state, turnId, terminalId);
  }

  /** Whether no frame can follow a terminal frame. */
  async endsWith(conversationId: string, turnId: string, terminalId: number): Promise<boolean> {
    const { state, turn } = await this.read(conversationId, turnId);
    return turn === undefined || (isOver(state, turn) && !isEndOfPause(turn, terminalId));
  }

  private async read(conversationId: string, turnId: string) {
    const { state } = await this.streams.foldOnwards(conversationStream(conversationId), conversation);
    return { state, turn: state.turns.get(turnId) };
  }
}

/** As `TurnActivity.follows`, for a conversation that was read after the terminal frame. */
export function following({ status, turns }: Conversation, turnId: string, terminalId: number): Following {
  const turn = turns.get(turnId);
  // A snapshot omits finished turns, and with them whether they paused.
  if (turn === undefined) return 'what-is-written';
  if (status === 'open') {
    if (isUnfinished(turn)) return 'more';
    // Readers do not wait while the turn is paused.
    if (turn.status === 'paused') return turn.pause !== null && terminalId < turn.pause.lastId ? 'more' : 'nothing';
    if (isEndOfPause(turn, terminalId) && !turn.sealed) return 'more';
  }
  return isEndOfPause(turn, terminalId) ? 'what-is-written' : 'nothing';
}

/** Whether the frame ends a pause. A turn that was resumed or has ended shows further frames after it. */
const isEndOfPause = ({ pause }: Turn, terminalId: number): boolean => pause !== null && terminalId <= pause.lastId;
