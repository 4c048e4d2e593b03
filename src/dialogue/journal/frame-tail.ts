import { Injectable } from '@nestjs/common';
import type { SignedInUser } from '../../resources/identity/caller.js';
import { AnswerReaders } from './answer-readers.js';
import { type FrameBatch, MessageFeed } from './message-feed.js';
import { TurnActivity } from './turn-activity.js';

/** A turn by its ids. */
export type TurnToRun = Readonly<{ conversationId: string; turnId: string }>;

/**
 * Reads the frames of a turn after a revision (-1: from the first on), past and live, until its run ends or the reader is gone.
 * The live caller reads what a reconnecting one reads.
 */
@Injectable()
export class FrameTail {
  constructor(
    private readonly feed: MessageFeed,
    private readonly activity: TurnActivity,
    private readonly readers: AnswerReaders,
  ) {}

  /** `reader`: the signed-in user who reads them, if any. */
  tail(
    { conversationId, turnId }: TurnToRun,
    after: number,
    signal: AbortSignal,
    reader?: SignedInUser,
  ): AsyncIterable<FrameBatch> {
    const goesOn = (terminalId: number) => this.activity.goesOn(conversationId, turnId, terminalId);
    const frames = this.feed.tail(turnId, after, goesOn, signal);
    return reader ? this.readers.noting(conversationId, reader, frames) : frames;
  }
}
