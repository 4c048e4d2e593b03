import { Injectable } from '@nestjs/common';
import { conversation, isOver } from '../conversation/conversation.decider.js';
import { type Conversation, isUnfinished, type Turn } from '../conversation/turn.policy.js';
import { conversationStream } from '../conversation/conversation.events.js';
import { Streams } from '../../kernel/event-sourcing/streams.js';

/** What is to come for a message, decided on the conversation: a turn states its outcome before it shows its end. */
@Injectable()
export class TurnActivity {
  constructor(private readonly streams: Streams) {}

  /**
   * Whether more frames come after a terminal one, without anybody being asked: a paused turn waits, and its readers do not
   * wait with it. One that was resumed, or that ended after a pause, is shown further than the end of that pause.
   */
  async goesOn(conversationId: string, turnId: string, terminalId: number): Promise<boolean> {
    return goesOn((await this.read(conversationId, turnId)).state, turnId, terminalId);
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

/** As `TurnActivity.goesOn`, by a conversation that was read after the terminal frame. */
export function goesOn({ status, turns }: Conversation, turnId: string, terminalId: number): boolean {
  const turn = turns.get(turnId);
  if (status !== 'open' || turn === undefined || turn.status === 'paused') return false;
  return isUnfinished(turn) || isEndOfPause(turn, terminalId);
}

const isEndOfPause = ({ pause, sealed }: Turn, terminalId: number): boolean =>
  !sealed && pause !== null && terminalId <= pause.lastId;
