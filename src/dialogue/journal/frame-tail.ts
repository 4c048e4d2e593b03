import { Injectable } from '@nestjs/common';
import type { Departure } from '../../kernel/departure.js';
import type { SignedInUser } from '../../resources/identity/caller.js';
import { AnswerReaders } from './answer-readers.js';
import type { BegunReading } from './message-access.js';
import type { TurnToRun } from './message.events.js';
import { type FrameBatch, type Follows, MessageFeed } from './message-feed.js';
import { following, TurnActivity } from './turn-activity.js';

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

  /** As `MessageFeed.expect`. */
  expect(turnId: string): () => void {
    return this.feed.expect(turnId);
  }

  /** `reader`: the signed-in user who reads them, if any. `begun`: what of them has been read before. */
  tail(
    turn: TurnToRun,
    after: number,
    signal: Departure,
    reader?: SignedInUser,
    begun?: BegunReading,
  ): AsyncIterable<FrameBatch> {
    const { conversationId, turnId } = turn;
    const asked = (terminalId: number) => this.activity.follows(conversationId, turnId, terminalId);
    const frames = this.feed.tail(turnId, after, begun ? knowing(begun, turnId, asked) : asked, signal, begun?.journal);
    return reader ? this.readers.noting(turn, reader, frames, begun?.conversation) : frames;
  }
}

/** Decides on the conversation as it was read after the first page, once, of a frame on that page; asks about every other. */
function knowing({ journal, conversation }: BegunReading, turnId: string, asked: Follows): Follows {
  let isFresh = true;
  return (terminalId) => {
    const isKnown = isFresh && terminalId <= journal.lastRevision;
    isFresh = false;
    return isKnown ? Promise.resolve(following(conversation.state, turnId, terminalId)) : asked(terminalId);
  };
}
