import type { AnswerDelta } from '../loop/answer-delta.js';
import type { Run } from '../loop/agent-loop.js';
import type { ExecutionMode } from '../loop/execution-mode.policy.js';
import { ReadAhead } from '../loop/read-ahead.js';
import type { CallLedger } from '../loop/tool-round.js';
import type { Transcript } from '../loop/transcript.js';
import type { AnswerComposer } from './answer-composer.js';

const tooEarly = (): never => {
  throw new Error('A call was made for an answer that nobody has taken.');
};
const NO_LEDGER: CallLedger = { begin: tooEarly, finish: tooEarly };

/** The answer to a question whose append is under way: its model is asked meanwhile, and nothing of it is shown. */
export class ForeseenAnswer {
  private readonly stop = new AbortController();
  private readonly run: { -readonly [Field in keyof Run]: Run[Field] };
  private readonly ahead: ReadAhead;

  private constructor(
    composer: AnswerComposer,
    transcript: Transcript,
    signal: AbortSignal,
    executionMode: ExecutionMode,
    before: readonly AnswerDelta[],
  ) {
    this.run = {
      signal: AbortSignal.any([signal, this.stop.signal]),
      ledger: NO_LEDGER,
      executionMode,
      records: () => [],
      shown: [],
    };
    this.ahead = new ReadAhead(composer.compose(transcript, this.run), before);
  }

  /**
   * Undefined where composing does more than ask a model. `instead` of another, whose question was decided on anew: what that has
   * used counts for this one.
   */
  static begin(
    composer: AnswerComposer,
    transcript: Transcript,
    signal: AbortSignal,
    executionMode: ExecutionMode,
    instead?: ForeseenAnswer,
  ): ForeseenAnswer | undefined {
    if (!composer.onlyAsksModels(transcript)) return undefined;
    return new ForeseenAnswer(composer, transcript, signal, executionMode, instead?.ahead.used ?? []);
  }

  /** What there is of it, and what follows, from now on with calls of tools. */
  taken(
    ledger: CallLedger,
    records: Run['records'],
  ): Readonly<{ ready: readonly AnswerDelta[]; rest: AsyncIterable<AnswerDelta> }> {
    this.run.ledger = ledger;
    this.run.records = records;
    return { ready: this.ahead.take(), rest: this.ahead.rest() };
  }

  /** Nothing more is wanted of it. */
  giveUp(): void {
    // With a reason of its own, no error is made for it.
    this.stop.abort('given-up');
    this.ahead.giveUp();
  }
}
