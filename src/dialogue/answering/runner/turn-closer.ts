import { Injectable } from '@nestjs/common';
import { Clock } from '../../../kernel/clock.js';
import { EventStore } from '../../../kernel/event-sourcing/event-store.js';
import type { Cause } from '../../../kernel/event-sourcing/events.js';
import { type Folded, Streams } from '../../../kernel/event-sourcing/streams.js';
import { Commands } from '../../../kernel/commands.js';
import { conversation } from '../../conversation/conversation.decider.js';
import { SealTurn } from '../../conversation/turn.commands.js';
import type { Conversation, Turn } from '../../conversation/turn.policy.js';
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
/** Why a turn ends without an answer, as its reader is told. */
export type Unanswered = Readonly<{ text: string; code: string }>;
const INTERRUPTION: Unanswered = { text: INTERRUPTED_TEXT, code: INTERRUPTED };
const STOPPED_TEXT = 'The answer was stopped.';

/** A pause as a run comes to it. */
export type Pausing = Omit<TurnPaused['data'], 'continuation' | 'expiresAt' | 'lastId'> & Readonly<{ continuation: string }>;

/** Ends turns: those that were run to their end, and those whose producer died on the way. */
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
   * In this order: (1) everything shown so far is durable; (2) the outcome is appended to the conversation; (3) the frames that
   * close the stream are journaled, with which the journal gets its retention; (4) the turn is sealed. So a reader that sees `end` finds the answer
   * in the conversation. A crash after any step leaves the turn unsealed, and `recover` goes on from there.
   */
  async close(journal: Journal, outcome: TurnOutcome, cause: Cause, ledger: TurnLedger): Promise<void> {
    await journal.flush();
    const { conversationId, turnId } = outcome.data;
    await ledger.conclude(outcome);
    for (const frame of closingFrames(ledger.folded.state, turnId)) journal.write(frame);
    await this.seal(journal, conversationId, turnId, cause, ledger.folded);
  }

  /**
   * The run ends, the turn waits: first what was shown is durable, then the pause is stated, then it is shown. A crash in
   * between leaves a journal that `recover` completes.
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
    if (folded.state.turns.get(turnId)?.status === 'paused') {
      for (const frame of missingOfPause(journal, paused)) journal.write(frame);
      return journal.flush();
    }
    // It was stopped, or deleted with its conversation, at the last moment.
    for (const frame of closingFrames(folded.state, turnId)) journal.write(frame);
    await this.seal(journal, conversationId, turnId, cause, folded);
  }

  /**
   * Brings a turn to its end, or to its pause, whose producer is gone, or whose conversation is, from wherever it got to. A
   * producer that is alive after all has given the turn up before: it can state nothing any more, and is shut out of the
   * journal by the first frame that is written here, at the revision that was read. Asked again it does nothing twice.
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
    // The conversation as the transcript has it: what came later, like the end of a pause, is decided when it is read again.
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
    // Of a deleted conversation nothing is stated any more.
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

/** What follows the outcome. A stopped answer ends with its error; any other tells the conversation's id and ends. */
const closingFrames = (state: Conversation, turnId: string): readonly Frame[] =>
  state.status === 'deleted' || state.turns.get(turnId)?.status === 'stopped'
    ? [{ type: 'error', error: STOPPED_TEXT, code: STOPPED }]
    : [{ type: 'id', id: state.id }, { type: 'end' }];

/**
 * How an abandoned turn ends, and what is still to be shown of it: stopped when that was asked for, answered when the answer
 * was shown whole, else failed for the given reason, with what it had shown.
 */
function endOf(turn: Turn, { asked, calls, resumption }: Transcript, message: Message, { text, code }: Unanswered) {
  const cut = interruptedCalls(message.parts.toolCalls, calls);
  const toolCalls = inCallOrder(withToolCalls(message.parts.toolCalls, cut), resumption?.paused.calls ?? []);
  const parts = { ...message.parts, toolCalls };
  // Of an answer that a guardrail has stopped nothing more is shown but that.
  const frames = message.error || message.guardrail ? [] : cut.map((data): Frame => ({ type: 'tool_call', data }));
  if (turn.stopRequested) {
    // After an error its producer shows nothing any more before it has stated the outcome, so there is nothing to shut it out of.
    const shown = message.error || message.guardrail ? [] : [...frames, stoppedFrame(parts)];
    return { frames: shown, outcome: stoppedWith(asked, parts) };
  }
  const block = blockIn(message, asked);
  if (block) return blockedEnd(message, frames, blockedWith(asked, parts, block.text, block.guardrail));
  if (message.error) return { frames, outcome: failedWith(asked, parts, message.error.text, message.error.code) };
  if (isWhole(message, asked)) return { frames, outcome: answeredWith(asked, parts) };
  const error: Frame = { type: 'error', error: text, code };
  return { frames: [...frames, error], outcome: failedWith(asked, parts, text, code) };
}

/** The guardrail that stopped an answer: the one that it shows, or the one that stopped its question, which no run may have shown yet. */
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

/** What follows an answer is shown once the answer is over: only its outcome was not stated any more. */
const isWhole = ({ last }: Message, { settings }: Asked): boolean =>
  last === (settings.responseSchema === null ? 'tool_calls' : 'structured_answer');

/** Only the producer knows what was used. */
const answeredWith = ({ conversationId, turnId, settings }: Asked, parts: AnswerParts): TurnOutcome => ({
  type: 'TurnAnswered',
  data: { conversationId, turnId, ...parts, modelId: settings.modelId, usage: null },
});

/** What is shown of an answer before its stop is recorded. No other process shows anything beside it. */
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

/** A guardrail stopped the answer: nothing of it is kept but the calls that were made, and its text is the block message. */
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

/** Tells a reader to forget what was shown of an answer; the error with the block message follows. */
export const guardrailFrame = (guardrail: StoppedByGuardrail): Frame => ({ type: 'guardrail', guardrail, retract: true });

export const stoppedWith = ({ conversationId, turnId }: Ids, parts: AnswerParts, usage: Usage | null = null): TurnOutcome => ({
  type: 'TurnStopped',
  data: { conversationId, turnId, ...parts, ...(usage && { usage }) },
});
