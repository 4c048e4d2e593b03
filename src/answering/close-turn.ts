import type { EventStore } from '../kernel/event-store.js';
import type { Cause } from '../kernel/events.js';
import type { Streams } from '../kernel/streams.js';
import { conclude, type Conversation, conversation, seal } from '../conversation/conversation.decider.js';
import { conversationStream, type AnswerParts, type TurnOutcome } from '../conversation/conversation.events.js';
import { type Frame, INTERRUPTED, messageStream, STOPPED } from '../conversation/message.events.js';
import { type Message, MessageDigest, noMessage, withFrame } from '../conversation/message.policy.js';
import type { Journal } from './journal.js';
import type { Transcript } from './transcript.js';

export const INTERRUPTED_TEXT = 'The answer was interrupted. What was written so far is kept; please ask again.';
const STOPPED_TEXT = 'The answer was stopped.';

/**
 * Ends a turn, in this order: (1) everything shown so far is durable; (2) the outcome is stated in the conversation;
 * (3) the frames that close the stream are journaled; (4) the journal is sealed. So whoever sees `end` finds the answer in
 * the conversation. A crash after any step leaves the turn unsealed, and `settleTurn` goes on from there.
 */
export async function closeTurn(streams: Streams, journal: Journal, proposed: TurnOutcome, cause: Cause): Promise<void> {
  await journal.flush();
  const { conversationId, turnId } = proposed.data;
  const stream = conversationStream(conversationId);
  const { state } = await streams.transact(stream, conversation, conclude(proposed), cause);
  for (const frame of closingFrames(state, turnId)) journal.write(frame);
  await journal.flush();
  await sealTurn(streams, conversationId, turnId, journal.digest, cause);
}

/** What follows the outcome. A stopped answer ends with its error; any other tells the conversation's id and ends. */
const closingFrames = (state: Conversation, turnId: string): readonly Frame[] =>
  state.status === 'deleted' || state.turns.get(turnId)?.status === 'stopped'
    ? [{ type: 'error', error: STOPPED_TEXT, code: STOPPED }]
    : [{ type: 'id', id: state.id }, { type: 'end' }];

async function sealTurn(streams: Streams, conversationId: string, turnId: string, digest: MessageDigest, cause: Cause) {
  const sealed = { conversationId, turnId, lastId: digest.lastId, frames: digest.frames, sha256: digest.hex() };
  await streams.transact(conversationStream(conversationId), conversation, seal(sealed), cause);
}

export type JournalSoFar = Readonly<{ digest: MessageDigest; message: Message }>;

export async function readJournal(store: EventStore, messageId: string): Promise<JournalSoFar> {
  const digest = new MessageDigest();
  let message = noMessage;
  for await (const page of store.read(messageStream(messageId))) {
    for (const { revision, data } of page) {
      digest.add(revision, data);
      message = withFrame(message, JSON.parse(data) as Frame);
    }
  }
  return { digest, message };
}

/**
 * Brings a turn whose producer is gone to its end, from wherever it got to. Its first frame, written at the revision that
 * was read, shuts a producer out that is alive after all; asked again it does nothing twice.
 */
export async function settleTurn(
  streams: Streams,
  transcript: Transcript,
  { message }: JournalSoFar,
  journal: Journal,
  cause: Cause,
): Promise<void> {
  const { conversationId, turnId, requestId } = transcript.asked;
  const { state } = await streams.fold(conversationStream(conversationId), conversation);
  const turn = state.turns.get(turnId);
  if (state.status === 'open' && turn?.status === 'running' && !turn.stopRequested) {
    if (!message.last) journal.write(firstFrame(transcript, requestId));
    if (!message.error) journal.write({ type: 'error', error: INTERRUPTED_TEXT, code: INTERRUPTED });
    const { text, code } = message.error ?? { text: INTERRUPTED_TEXT, code: INTERRUPTED };
    return closeTurn(streams, journal, failed(conversationId, turnId, message.parts, text, code), cause);
  }
  if (turn?.status === 'running') {
    if (!message.last) journal.write(firstFrame(transcript, requestId));
    return closeTurn(streams, journal, stoppedWith(conversationId, turnId, message.parts), cause);
  }
  const isClosed = message.last === 'end' || (message.last === 'error' && message.error?.code === STOPPED);
  const closing = isClosed ? [] : closingFrames(state, turnId);
  for (const frame of closing) if (frame.type !== message.last) journal.write(frame);
  await journal.flush();
  await sealTurn(streams, conversationId, turnId, journal.digest, cause);
}

export const firstFrame = ({ asked, beginsConversation }: Transcript, requestId: string): Frame => ({
  type: 'message_id',
  message_id: asked.turnId,
  conversation_id: beginsConversation ? null : asked.conversationId,
  request_id: requestId,
});

export const failed = (
  conversationId: string,
  turnId: string,
  parts: AnswerParts,
  error: string,
  code: string | null,
): TurnOutcome => ({ type: 'TurnFailed', data: { conversationId, turnId, ...parts, error, code } });

export const stoppedWith = (conversationId: string, turnId: string, parts: AnswerParts): TurnOutcome => ({
  type: 'TurnStopped',
  data: { conversationId, turnId, ...parts },
});
