import { Injectable } from '@nestjs/common';
import { EventStore } from '../kernel/event-store.js';
import type { Cause } from '../kernel/events.js';
import { type Folded, outlasting, Streams } from '../kernel/streams.js';
import { conclude, conversation, seal } from '../conversation/conversation.decider.js';
import type { Conversation, Turn } from '../conversation/turn.policy.js';
import { type AnswerParts, conversationStream, type TurnOutcome } from '../conversation/conversation.events.js';
import { type Frame, INTERRUPTED, messageStream, STOPPED } from '../conversation/message.events.js';
import { type Message, MessageDigest, noMessage, withFrame } from '../conversation/message.policy.js';
import { AnsweringOptions } from './answering-options.js';
import { type Journal, RUN_PATIENCE_MS } from './journal.js';
import type { Transcript } from './transcript.js';

export const INTERRUPTED_TEXT = 'The answer was interrupted. What was written so far is kept; please ask again.';
const STOPPED_TEXT = 'The answer was stopped.';

export type JournalSoFar = Readonly<{ digest: MessageDigest; message: Message }>;

/** Ends turns: those that were run to their end, and those whose producer died on the way. */
@Injectable()
export class TurnCloser {
  constructor(
    private readonly store: EventStore,
    private readonly streams: Streams,
    private readonly options: AnsweringOptions,
  ) {}

  /**
   * In this order: (1) everything shown so far is durable; (2) the outcome is stated in the conversation; (3) the frames
   * that close the stream are journaled; (4) the journal gets its retention and is sealed. So whoever sees `end` finds the
   * answer in the conversation. A crash after any step leaves the turn unsealed, and `settle` goes on from there.
   */
  async close(journal: Journal, outcome: TurnOutcome, cause: Cause, known: Folded<Conversation>): Promise<void> {
    await journal.flush();
    const { conversationId, turnId } = outcome.data;
    const stream = conversationStream(conversationId);
    const concluded = await outlasting(RUN_PATIENCE_MS, () =>
      this.streams.transact(stream, conversation, conclude(outcome), cause, known),
    );
    for (const frame of closingFrames(concluded.state, turnId)) journal.write(frame);
    await this.seal(journal, conversationId, turnId, cause, concluded);
  }

  /**
   * Brings a turn to its end whose producer is gone, or whose conversation is, from wherever it got to. Its first frame, written at the revision that
   * was read, shuts a producer out that is alive after all; asked again it does nothing twice.
   */
  async settle(transcript: Transcript, { message }: JournalSoFar, journal: Journal, cause: Cause): Promise<void> {
    const { conversationId, turnId } = transcript.asked;
    const known = await this.streams.fold(conversationStream(conversationId), conversation);
    const { state } = known;
    const turn = state.turns.get(turnId);
    if (!turn || turn.sealed || (turn.status === 'asked' && state.status === 'open')) return;
    if (!message.last) journal.write(firstFrame(transcript));
    if (turn.status === 'running') return this.close(journal, endOf(turn, state, transcript, message, journal), cause, known);
    const isClosed = message.last === 'end' || message.error?.code === STOPPED;
    const missing = isClosed ? [] : closingFrames(state, turnId).filter((frame) => frame.type !== message.last);
    for (const frame of missing) journal.write(frame);
    await this.seal(journal, conversationId, turnId, cause, known);
  }

  async readJournal(messageId: string): Promise<JournalSoFar> {
    const digest = new MessageDigest();
    let message = noMessage;
    for await (const page of this.store.read(messageStream(messageId))) {
      for (const { revision, data } of page) {
        digest.add(revision, data);
        message = withFrame(message, JSON.parse(data) as Frame);
      }
    }
    return { digest, message };
  }

  private async seal(
    journal: Journal,
    conversationId: string,
    turnId: string,
    cause: Cause,
    known: Folded<Conversation>,
  ): Promise<void> {
    await journal.flush();
    const { digest } = journal;
    const sealed = { conversationId, turnId, lastId: digest.lastId, frames: digest.frames, sha256: digest.hex() };
    await outlasting(RUN_PATIENCE_MS, async () => {
      const maxAgeSeconds = this.options.settings.messageEventsRetentionSeconds;
      await this.store.setRetention(messageStream(turnId), { maxAgeSeconds });
      await this.streams.transact(conversationStream(conversationId), conversation, seal(sealed), cause, known);
    });
  }
}

/** What follows the outcome. A stopped answer ends with its error; any other tells the conversation's id and ends. */
const closingFrames = (state: Conversation, turnId: string): readonly Frame[] =>
  state.status === 'deleted' || state.turns.get(turnId)?.status === 'stopped'
    ? [{ type: 'error', error: STOPPED_TEXT, code: STOPPED }]
    : [{ type: 'id', id: state.id }, { type: 'end' }];

/** How an abandoned turn ends: stopped when that was asked for, else interrupted, with what it had shown. */
function endOf(turn: Turn, state: Conversation, { asked }: Transcript, message: Message, journal: Journal): TurnOutcome {
  if (turn.stopRequested || state.status === 'deleted') return stoppedWith(asked, message.parts);
  const error = message.error ?? { text: INTERRUPTED_TEXT, code: INTERRUPTED };
  if (!message.error) journal.write({ type: 'error', error: error.text, code: INTERRUPTED });
  return failedWith(asked, message.parts, error.text, error.code);
}

type Ids = Readonly<{ conversationId: string; turnId: string }>;

export const failedWith = (
  { conversationId, turnId }: Ids,
  parts: AnswerParts,
  error: string,
  code: string | null,
): TurnOutcome => ({
  type: 'TurnFailed',
  data: { conversationId, turnId, ...parts, error, code },
});

export const stoppedWith = ({ conversationId, turnId }: Ids, parts: AnswerParts): TurnOutcome => ({
  type: 'TurnStopped',
  data: { conversationId, turnId, ...parts },
});

export const firstFrame = ({ asked, beginsConversation }: Transcript): Frame => ({
  type: 'message_id',
  message_id: asked.turnId,
  conversation_id: beginsConversation ? null : asked.conversationId,
  request_id: asked.requestId,
});
