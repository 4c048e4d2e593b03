import { Injectable } from '@nestjs/common';
import { Clock } from '../../../kernel/clock.js';
import { EventStore } from '../../../kernel/event-sourcing/event-store.js';
import type { Cause } from '../../../kernel/event-sourcing/events.js';
import { type Folded, Streams } from '../../../kernel/event-sourcing/streams.js';
import { Commands } from '../../../kernel/commands.js';
import { conversation } from '../../conversation/conversation.decider.js';
import { SealTurn } from '../../conversation/turn.commands.js';
import { type Conversation, isUnfinished, type Turn } from '../../conversation/turn.policy.js';
import {
  type AnswerParts,
  type StoppedByGuardrail,
  conversationStream,
  type TurnFailed,
  type TurnOutcome,
  type TurnPaused,
  type Usage,
} from '../../conversation/conversation.events.js';
import { inCallOrder, withToolCalls } from '../../conversation/tool-call.policy.js';
import { type Frame, GUARDRAIL, INTERRUPTED, messageStream, STOPPED } from '../../journal/message.events.js';
import { type Message, MessageDigest, noMessage, pauseFramesCount, RETRACTED, withFrame } from '../../journal/message.policy.js';
import { blockOf } from '../loop/guardrail-block.js';
import { AnsweringOptions } from '../loop/answering-options.js';
import { interruptedCalls } from '../loop/call-ends.policy.js';
import { type Journal, RUN_PATIENCE_MS } from '../../journal/journal.js';
import { firstFrame, isUnresumed, type JournalSoFar, missingOfPause, unresumedFrames } from './resumed-run.js';
import type { Transcript } from '../loop/transcript.js';
import { TurnLedger } from './turn-ledger.js';
import { Continuations } from '../continuations/continuations.js';

export const INTERRUPTED_TEXT = 'The answer was interrupted. What was written so far is kept; please ask again.';
/** The error of a turn that ends without an answer, as its reader sees it. */
export type Unanswered = Readonly<{ text: string; code: string }>;
const INTERRUPTION: Unanswered = { text: INTERRUPTED_TEXT, code: INTERRUPTED };
const STOPPED_TEXT = 'The answer was stopped.';

/** A pause before its continuation is stored and its expiry is set. */
export type Pausing = Omit<TurnPaused['data'], 'continuation' | 'expiresAt' | 'lastId'> & Readonly<{ continuation: string }>;

/** Ends turns whose run is complete and turns whose producer died. */
@Injectable()
export class TurnCloser {
  constructor(
    private readonly store: EventStore,
    private readonly streams: Streams,
    private readonly commands: Commands,
    private readonly continuations: Continuations,
    private readonly clock: Clock,
    private readonly options: AnsweringOptions,
  ) {}

  /**
   * Ends a turn in this order: (1) flush the frames shown so far; (2) append the outcome to the conversation; (3) journal the
   * closing frames and set the journal's retention; (4) seal the turn. A reader that sees `end` therefore finds the answer in the
   * conversation. A crash after any step leaves the turn unsealed, and `recover` continues from there.
   */
  async close(journal: Journal, outcome: TurnOutcome, cause: Cause, ledger: TurnLedger): Promise<void> {
    await journal.flush();
    const { conversationId, turnId } = outcome.data;
    await ledger.conclude(outcome);
    for (const frame of closingFrames(ledger.folded.state, turnId)) journal.write(frame);
    await this.seal(journal, conversationId, turnId, cause, ledger.folded);
  }

  /**
   * Pauses a turn in this order: flush the frames shown so far, append the pause to the conversation, journal the frames that
   * show it. After a crash in between, `recover` completes the journal.
   */
  async pause(journal: Journal, pausing: Pausing, cause: Cause, ledger: TurnLedger): Promise<void> {
    const continuation = await this.continuations.keep(pausing.turnId, pausing.continuation);
    await journal.flush();
    const { conversationId, turnId } = pausing;
    const expiresAt = new Date(this.clock.now().getTime() + this.options.settings.approvalTtlMs).toISOString();
    const lastId = journal.digest.lastId + pauseFramesCount(pausing.calls.length);
    const paused = { ...pausing, continuation, expiresAt, lastId };
    await ledger.pause(paused);
    const { folded } = ledger;
    const turn = folded.state.turns.get(turnId);
    if (turn?.status === 'paused') {
      for (const frame of missingOfPause(journal, paused)) journal.write(frame);
      return journal.flush();
    }
    // The turn was stopped or its conversation deleted before the pause was appended, so no event names the continuation.
    const isOver = folded.state.status === 'deleted' || !turn || !isUnfinished(turn);
    if (isOver && 'blob' in continuation) await this.continuations.drop(continuation.blob.sha256);
    for (const frame of closingFrames(folded.state, turnId)) journal.write(frame);
    await this.seal(journal, conversationId, turnId, cause, folded);
  }

  /**
   * Completes the end or the pause of a turn whose producer is gone or whose conversation is deleted, whichever step it had
   * reached. The turn was taken from its producer before, so a producer that is still alive can append nothing to the
   * conversation. The first frame written here, at the revision that was read, also fences it out of the journal. A repeated call
   * repeats no step.
   */
  async recover(
    transcript: Transcript,
    { message: before }: JournalSoFar,
    journal: Journal,
    producer: string,
    why = INTERRUPTION,
  ): Promise<void> {
    const { cause } = transcript;
    const { conversationId, turnId } = transcript.asked;
    // The state is the one that the transcript was read with. A later change, such as the end of a pause, is handled when the
    // turn is read again.
    const known = transcript.folded ?? (await this.streams.fold(conversationStream(conversationId), conversation));
    const { state } = known;
    const turn = state.turns.get(turnId);
    if (!turn || turn.sealed || (turn.status === 'asked' && state.status === 'open')) return;
    let message = before;
    const show = (...frames: readonly Frame[]) => {
      for (const frame of frames) journal.write(frame);
      message = frames.reduce(withFrame, message);
    };
    const { resumption } = transcript;
    if (!message.last) show(firstFrame(transcript));
    if (resumption) show(...missingOfPause(journal, resumption.paused));
    if (turn.status === 'paused' && state.status === 'open') return journal.flush();
    if (resumption && isUnresumed(resumption)) {
      show(...unresumedFrames(transcript, resumption, journal.digest));
      return this.seal(journal, conversationId, turnId, cause, known);
    }
    if (message.runs < turn.runs) show(firstFrame(transcript));
    // No outcome is appended to a deleted conversation.
    if (turn.status === 'running' && state.status === 'open') {
      const { frames, outcome } = endOf(turn, transcript, message, why);
      show(...frames);
      return this.close(
        journal,
        outcome,
        cause,
        new TurnLedger(this.streams, this.commands, { conversationId, turnId, producer }, cause, known),
      );
    }
    const isClosed = message.last === 'end' || message.error?.code === STOPPED;
    if (!isClosed) show(...closingFrames(state, turnId).filter(({ type }) => type !== 'id' || message.last !== 'id'));
    await this.seal(journal, conversationId, turnId, cause, known);
  }

  async readJournal(messageId: string): Promise<JournalSoFar> {
    const digest = new MessageDigest();
    let message = noMessage;
    let sinceLastRun: Frame[] = [];
    for await (const page of this.store.read(messageStream(messageId))) {
      for (const { revision, data } of page) {
        const frame = JSON.parse(data) as Frame;
        digest.add(revision, data);
        message = withFrame(message, frame);
        if (frame.type === 'message_id') sinceLastRun = [];
        sinceLastRun.push(frame);
      }
    }
    return { digest, message, sinceLastRun };
  }

  private async seal(
    journal: Journal,
    conversationId: string,
    turnId: string,
    cause: Cause,
    known: Folded<Conversation>,
  ): Promise<void> {
    await journal.end({ maxAgeSeconds: this.options.settings.messageEventsRetentionSeconds });
    const { digest } = journal;
    const sealed = { conversationId, turnId, lastId: digest.lastId, frames: digest.frames, sha256: digest.hex() };
    await this.streams.retryWhileUnavailable(RUN_PATIENCE_MS, () => this.commands.execute(new SealTurn(sealed, cause, known)));
  }
}

/** The frames after the outcome: the error of a stopped answer, or the conversation's id and `end` of any other. */
const closingFrames = (state: Conversation, turnId: string): readonly Frame[] =>
  state.status === 'deleted' || state.turns.get(turnId)?.status === 'stopped'
    ? [{ type: 'error', error: STOPPED_TEXT, code: STOPPED }]
    : [{ type: 'id', id: state.id }, { type: 'end' }];

/**
 * The outcome of an abandoned turn and the frames that are still to be journaled. The turn ends stopped if a stop was requested,
 * answered if the whole answer was shown, and otherwise failed for the given reason with the parts that were shown.
 */
function endOf(turn: Turn, { asked, calls, resumption }: Transcript, message: Message, { text, code }: Unanswered) {
  const cut = interruptedCalls(message.parts.toolCalls, calls);
  const toolCalls = inCallOrder(withToolCalls(message.parts.toolCalls, cut), resumption?.paused.calls ?? []);
  const parts = { ...message.parts, toolCalls };
  // After an error or a guardrail block no calls are shown.
  const frames = message.error || message.guardrail ? [] : cut.map((data): Frame => ({ type: 'tool_call', data }));
  if (turn.stopRequested) {
    // After an error the producer writes no frame before it appends the outcome, so no frame is needed to fence it out.
    const shown = message.error || message.guardrail ? [] : [...frames, stoppedFrame(parts)];
    return { frames: shown, outcome: stoppedWith(asked, parts) };
  }
  const block = blockIn(message, asked);
  if (block) return blockedEnd(message, frames, blockedWith(asked, parts, block.text, block.guardrail));
  if (message.error) return { frames, outcome: failedWith(asked, parts, message.error.text, message.error.code) };
  if (isComplete(message, asked)) return { frames, outcome: answeredWith(asked, parts) };
  const error: Frame = { type: 'error', error: text, code };
  return { frames: [...frames, error], outcome: failedWith(asked, parts, text, code) };
}

/**
 * The guardrail that stopped an answer: the one that its frames show, or the one that blocked its question and may not be shown
 * yet.
 */
function blockIn({ guardrail, error }: Message, { settings, checked }: Asked) {
  if (guardrail) return { text: error?.text ?? settings.guardrails?.blockMessage ?? checked?.blockMessage ?? '', guardrail };
  if (checked?.blockMessage === undefined || error) return undefined;
  const { message: text, stopped } = blockOf({ blockMessage: checked.blockMessage }, 'input', checked.decisions);
  return { text, guardrail: stopped };
}

function blockedEnd({ guardrail, error }: Message, calls: readonly Frame[], outcome: TurnFailed) {
  const { guardrail: stopped, error: text } = outcome.data;
  const notice = guardrail ? [] : [guardrailFrame(stopped!)];
  const shown: readonly Frame[] = error ? [] : [{ type: 'error', error: text, code: GUARDRAIL }];
  return { frames: [...calls, ...notice, ...shown], outcome };
}

/**
 * Whether the whole answer was shown: the frames after an answer are written when it is complete, before the outcome is appended.
 */
const isComplete = ({ last }: Message, { settings }: Asked): boolean =>
  last === (settings.responseSchema === null ? 'tool_calls' : 'structured_answer');

/** The outcome of a complete answer. Its usage is null, because only the producer knew the token counts. */
const answeredWith = ({ conversationId, turnId, settings }: Asked, parts: AnswerParts): TurnOutcome => ({
  type: 'TurnAnswered',
  data: { conversationId, turnId, ...parts, modelId: settings.modelId, usage: null },
});

/**
 * The frame that a recovery writes before it appends the stop. Being written at the end of the journal, it fences the producer
 * out.
 */
const stoppedFrame = ({ sources }: AnswerParts): Frame => ({ type: 'source', source: sources });

type Asked = Transcript['asked'];
type Ids = Readonly<{ conversationId: string; turnId: string }>;

export const failedWith = (
  { conversationId, turnId }: Ids,
  parts: AnswerParts,
  error: string,
  code: string | null,
  usage: Usage | null = null,
): TurnOutcome => ({
  type: 'TurnFailed',
  data: { conversationId, turnId, ...parts, error, code, ...(usage && { usage }) },
});

/**
 * The outcome of an answer that a guardrail stopped: it keeps only the calls that were made, and its text is the block message.
 */
export const blockedWith = (
  { conversationId, turnId }: Ids,
  { toolCalls }: AnswerParts,
  message: string,
  guardrail: StoppedByGuardrail,
  usage: Usage | null = null,
): TurnFailed => ({
  type: 'TurnFailed',
  data: {
    conversationId,
    turnId,
    ...RETRACTED,
    answer: message,
    toolCalls,
    error: message,
    code: GUARDRAIL,
    ...(usage && { usage }),
    guardrail,
  },
});

/** Tells a client to discard the answer shown so far. The error with the block message follows. */
export const guardrailFrame = (guardrail: StoppedByGuardrail): Frame => ({ type: 'guardrail', guardrail, retract: true });

export const stoppedWith = ({ conversationId, turnId }: Ids, parts: AnswerParts, usage: Usage | null = null): TurnOutcome => ({
  type: 'TurnStopped',
  data: { conversationId, turnId, ...parts, ...(usage && { usage }) },
});
