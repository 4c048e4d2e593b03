import { Injectable } from '@nestjs/common';
import type { Departure } from '../../kernel/departure.js';
import { Rejection } from '../../kernel/rejection.js';
import type { SignedInUser } from '../../resources/identity/caller.js';
import { AnswerReaders } from './answer-readers.js';
import { RecentMessages, type StartedReading } from './message-access.js';
import type { TurnToRun } from './message.events.js';
import { type StartedFrames, type FrameReading, type Follows, MessageFeed } from './message-feed.js';
import { type FrameBatch } from './frame-batch.js';
import { following, TurnActivity } from './turn-activity.js';

/**
 * Reads the stored and new frames of a turn after a revision (-1: all frames), until its run ends or the reader leaves. Live and
 * reconnecting readers use the same code.
 */
@Injectable()
export class FrameTail {
  constructor(
    private readonly feed: MessageFeed,
    private readonly activity: TurnActivity,
    private readonly readers: AnswerReaders,
    private readonly recent: RecentMessages,
  ) {}

  /** As `MessageFeed.expect`. */
  expect(turnId: string): () => void {
    return this.feed.expect(turnId);
  }

  /** Checks that a reader can have all frames after number `after`. @throws Rejection journal-expired */
  async requireKept(turnId: string, after: number): Promise<void> {
    if (await this.feed.isNoLongerKept(turnId, after + 1))
      throw new Rejection('journal-expired', 'The events of this answer are no longer kept; read the conversation.');
  }

  /** @param reader the signed-in user who reads, if any @param started the part of the journal that was already read */
  tail(
    turn: TurnToRun,
    after: number,
    departure: Departure,
    reader?: SignedInUser,
    started?: StartedReading,
  ): AsyncIterable<FrameBatch> {
    const frames = this.feed.tail(turn.turnId, after, ...this.following(turn, departure, started));
    return reader ? this.readers.noting(turn, reader, frames, started) : frames;
  }

  /** As `tail`, for a reader that may wait for long. */
  reading(turn: TurnToRun, after: number, departure: Departure, reader?: SignedInUser, started?: StartedReading): FrameReading {
    const reading = this.feed.reading(turn.turnId, after, ...this.following(turn, departure, started));
    if (!reader) return reading;
    let before = started;
    const available = () => {
      const frames = this.readers.noting(turn, reader, reading.available(), before);
      before = undefined;
      return frames;
    };
    return { available, whenMore: (onMore) => reading.whenMore(onMore) };
  }

  private following(turn: TurnToRun, departure: Departure, started?: StartedReading): [Follows, Departure, StartedFrames?] {
    this.recent.note(turn);
    const asked = (terminalId: number) => this.activity.follows(turn.conversationId, turn.turnId, terminalId);
    return started
      ? [asked, departure, { pages: started.journal, follows: knowing(started, turn.turnId, asked) }]
      : [asked, departure];
  }
}

/**
 * Answers from the conversation that was read after the first page, for frames on that page. For later frames, it reads again.
 */
const knowing =
  ({ journal, conversation }: StartedReading, turnId: string, asked: Follows): Follows =>
  (terminalId) =>
    terminalId <= journal.lastRevision ? Promise.resolve(following(conversation.state, turnId, terminalId)) : asked(terminalId);
