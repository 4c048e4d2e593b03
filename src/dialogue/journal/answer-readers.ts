import { Injectable, Logger } from '@nestjs/common';
import { Commands } from '../../kernel/commands.js';
import { EventStore, lastEvent } from '../../kernel/event-sourcing/event-store.js';
import type { Folded } from '../../kernel/event-sourcing/streams.js';
import { LastWrites } from '../../kernel/event-sourcing/last-writes.js';
import type { SignedInUser } from '../../resources/identity/caller.js';
import { WatchConversation } from '../conversation/conversation.commands.js';
import { watch } from '../conversation/conversation.decider.js';
import { conversationStream } from '../conversation/conversation.events.js';
import type { Conversation } from '../conversation/turn.policy.js';
import type { TurnToRun } from './message.events.js';
import type { StartedReading } from './message-access.js';
import type { FrameBatch } from './frame-batch.js';

/**
 * Records that a signed-in user has read an answer to its end. It does so before it sends the last frame, so that a client that
 * lists its conversations after that frame finds the answer, and finds it read.
 */
@Injectable()
export class AnswerReaders {
  private readonly logger = new Logger(AnswerReaders.name);

  constructor(
    private readonly commands: Commands,
    private readonly store: EventStore,
    private readonly lastWrites: LastWrites,
  ) {}

  /** Passes the frames through. `started` is the part of the journal, and the conversation, that were already read. */
  async *noting(
    turn: TurnToRun,
    reader: SignedInUser,
    frames: AsyncIterable<FrameBatch>,
    started?: StartedReading,
  ): AsyncGenerator<FrameBatch> {
    for await (const batch of frames) {
      const wasThere = started && batch.last <= started.journal.lastRevision;
      if (batch.terminal) await this.noteEnd(turn, reader, wasThere ? started.conversation : undefined);
      yield batch;
    }
  }

  /** Records the end of the answer. A failure to do so leaves the mark and does not hold the answer back. */
  private async noteEnd(
    { conversationId, turnId }: TurnToRun,
    { userId, cause }: SignedInUser,
    known: Folded<Conversation> | undefined,
  ): Promise<void> {
    if (known && isRead(known.state, userId)) {
      this.lastWrites.note(userId, known.position);
      return;
    }
    try {
      const watched = await this.commands.execute(new WatchConversation(conversationId, turnId, userId, cause));
      this.lastWrites.note(userId, watched ?? (await lastEvent(this.store, conversationStream(conversationId)))?.position);
    } catch (error) {
      this.logger.debug(`The reader of an answer in conversation ${conversationId} was not noted: ${String(error)}`);
    }
  }
}

const isRead = (state: Conversation, userId: string): boolean =>
  state.status === 'open' && state.ownerId === userId && watch(state).length === 0;
