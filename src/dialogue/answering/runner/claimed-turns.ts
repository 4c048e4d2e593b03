import { Logger } from '@nestjs/common';
import type { Commands } from '../../../kernel/commands.js';
import type { Folded, Streams } from '../../../kernel/event-sourcing/streams.js';
import { Rejection } from '../../../kernel/rejection.js';
import type { Timing } from '../../../kernel/timing.js';
import { ModelFailed } from '../../../resources/models/model/language-model.port.js';
import type { TurnOutcome } from '../../conversation/conversation.events.js';
import type { Conversation } from '../../conversation/turn.policy.js';
import { type Journal, JournalLost, unlessLost } from '../../journal/journal.js';
import type { Frame } from '../../journal/message.events.js';
import type { Run } from '../loop/agent-loop.js';
import { AnswerFailed } from '../loop/answer-failed.js';
import type { BackgroundCalls } from '../loop/background-calls.port.js';
import { type ExecutionMode, interactive, overDialect } from '../loop/execution-mode.policy.js';
import { GuardrailBlock } from '../loop/guardrail-block.js';
import type { Transcript } from '../loop/transcript.js';
import type { AnswerComposer } from './answer-composer.js';
import { AnswerWriter, type Progress, type UserError, userError, userErrorOf } from './answer-writer.js';
import { SpeculativeAnswer } from './speculative-answer.js';
import type { SharedUse } from './shared-use.js';
import { StopAnswer } from './stop-answer.commands.js';
import type { StopWatch } from './stop-watch.js';
import { blockedWith, failedWith, guardrailFrame, stoppedWith, type TurnCloser } from './turn-closer.js';
import { TurnLedger } from './turn-ledger.js';

const UNEXPECTED_TEXT = 'The answer failed unexpectedly. Please try again.';

/** Why a run ends before its answer does. */
export type StopReason = 'stopped' | 'interrupted' | 'lost';

/** What the run of a turn that this producer has claimed starts from. */
export type ClaimedTurn = Readonly<{
  transcript: Transcript;
  journal: Journal;
  claimed: Folded<Conversation>;
  start: Progress;
  shown: Run['shown'];
  /** The first frame, if it is not written yet. */
  opening?: Frame;
  /** The answer that was started before the turn was claimed. */
  speculative?: SpeculativeAnswer | undefined;
}>;

type Parts = Readonly<{
  streams: Streams;
  commands: Commands;
  composer: AnswerComposer;
  closer: TurnCloser;
  calls: BackgroundCalls;
  sharedUse: SharedUse;
  stops: StopWatch;
  timing: Timing;
  /** The producer id of this process. */
  producer: string;
}>;

/** Answers the turns that this process has claimed: composes the answer, journals it, and pauses or ends the turn. */
export class ClaimedTurns {
  private readonly logger = new Logger(ClaimedTurns.name);

  constructor(private readonly parts: Parts) {}

  /**
   * Composes the answer to a question whose append has begun. Composing starts in the next turn of the event loop, because it takes
   * as long as a short append, and the store sends the append at the end of this turn. `instead` is the answer that it replaces.
   */
  speculate(transcript: Transcript, signal: AbortSignal, instead: SpeculativeAnswer | undefined): SpeculativeAnswer | undefined {
    const { composer, timing } = this.parts;
    return SpeculativeAnswer.begin(composer, transcript, signal, this.executionMode(transcript), timing.nextTurn(), instead);
  }

  /**
   * Resolves when the turn is paused or ended, or belongs to another producer. The abort reason of the controller is a
   * `StopReason`.
   */
  async run(turn: ClaimedTurn, controller: AbortController): Promise<void> {
    const { transcript, claimed } = turn;
    const { conversationId, turnId } = transcript.asked;
    if (await this.parts.sharedUse.hasEnded(transcript.ownerId, transcript.asked.settings)) {
      await unlessLost(this.parts.commands.execute(new StopAnswer(conversationId, turnId, transcript.cause, 'access-ended')));
      controller.abort('stopped' satisfies StopReason);
    }
    if (claimed.state.turns.get(turnId)?.stopRequested) controller.abort('stopped' satisfies StopReason);
    const stopWatching = this.parts.stops.watch(claimed, turnId, () => controller.abort('stopped' satisfies StopReason));
    try {
      await unlessLost(this.answer(turn, controller));
    } finally {
      stopWatching();
    }
  }

  private executionMode({ asked }: Transcript): ExecutionMode {
    return asked.settings.dialect ? overDialect : interactive(this.parts.calls);
  }

  private async answer(turn: ClaimedTurn, controller: AbortController): Promise<void> {
    const { transcript, journal, claimed, start, shown, opening, speculative } = turn;
    const { asked, cause } = transcript;
    const { conversationId, turnId, settings } = asked;
    const ids = { conversationId, turnId, producer: this.parts.producer };
    const ledger = new TurnLedger(this.parts.streams, this.parts.commands, ids, cause, claimed);
    const writer = new AnswerWriter(journal, settings.responseSchema, start);
    const records = () => writer.progress.parts.toolCalls;
    const { signal } = controller;
    const executionMode = this.executionMode(transcript);
    const fencingToken = claimed.revision === 'none' ? 0 : claimed.revision;
    const own = { ledger, records, fencingToken };
    const compose = () => this.parts.composer.compose(transcript, { ...own, signal, executionMode, shown });
    const { ready, rest } = speculative?.taken(own) ?? { ready: [], rest: compose() };
    // The first frame and the ready deltas, or the first ones of a fast model, are stored together.
    if (opening) journal.writeWithNext(opening);
    const error = await writer.write(rest, signal, ready).catch((thrown: unknown) => this.errorFor(thrown, turnId, controller));
    const isStopped = controller.signal.aborted && controller.signal.reason === 'stopped';
    const isPaused = writer.pause && !error && !isStopped;
    if (!isPaused) writer.interruptCalls({ started: ledger.unfinished, finished: new Map() });
    if (isPaused) {
      const { parts, usage } = writer.progress;
      const about = { conversationId, turnId, ...parts, modelId: settings.modelId, usage };
      return this.parts.closer.pause(journal, { ...about, ...writer.pause! }, cause, ledger);
    }
    const outcome = outcomeOf(asked, writer.progress, isStopped, error);
    if (outcome.type === 'TurnAnswered') writer.writeResult();
    if (outcome.type === 'TurnFailed') {
      if (outcome.data.guardrail) journal.write(guardrailFrame(outcome.data.guardrail));
      journal.write({ type: 'error', error: outcome.data.error, ...(outcome.data.code ? { code: outcome.data.code } : {}) });
    }
    await this.parts.closer.close(journal, outcome, cause, ledger);
  }

  /**
   * The error that the user sees. Only messages of the model and of rules that are meant for users are passed on.
   * @throws JournalLost
   */
  private errorFor(error: unknown, turnId: string, controller: AbortController): UserError {
    if (error instanceof JournalLost) throw error;
    if (error instanceof Rejection && error.code === 'turn-stopping') controller.abort('stopped' satisfies StopReason);
    if (error instanceof GuardrailBlock) return userErrorOf(error);
    if (error instanceof ModelFailed) return userError(error.message, error.failure);
    if (error instanceof AnswerFailed) return userError(error.message, error.code);
    if (error instanceof Rejection) return userError(error.message, error.code);
    this.logger.error(`Turn ${turnId} failed unexpectedly.`, error);
    return { text: UNEXPECTED_TEXT, code: null };
  }
}

/** The outcome of a run that does not pause. A stop takes precedence over an error. */
function outcomeOf(
  asked: Transcript['asked'],
  { parts, usage }: Progress,
  isStopped: boolean,
  error: UserError | undefined,
): TurnOutcome {
  if (isStopped) return stoppedWith(asked, parts, usage);
  if (error?.guardrail) return blockedWith(asked, parts, error.text, error.guardrail, usage);
  if (error) return failedWith(asked, parts, error.text, error.code, usage);
  const { conversationId, turnId, settings } = asked;
  return { type: 'TurnAnswered', data: { conversationId, turnId, ...parts, modelId: settings.modelId, usage } };
}
