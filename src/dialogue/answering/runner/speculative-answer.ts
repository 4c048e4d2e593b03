import type { AnswerDelta } from '../loop/answer-delta.js';
import type { Run } from '../loop/agent-loop.js';
import type { ExecutionMode } from '../loop/execution-mode.policy.js';
import { ReadAhead } from '../loop/read-ahead.js';
import type { CallLedger } from '../loop/tool-round.js';
import type { Transcript } from '../loop/transcript.js';
import type { AnswerComposer } from './answer-composer.js';

const tooEarly = (): never => {
  throw new Error('A call was made before the turn was claimed.');
};
const NO_LEDGER: CallLedger = { begin: tooEarly, finish: tooEarly };

/** The answer to a question whose append is still in progress. The model is already called, but no frame is written. */
export class SpeculativeAnswer {
  private readonly stop = new AbortController();
  private readonly run: Run;
  private readonly ahead: ReadAhead;

  private constructor(
    composer: AnswerComposer,
    transcript: Transcript,
    signal: AbortSignal,
    executionMode: ExecutionMode,
    due: Promise<void>,
    before: readonly AnswerDelta[],
  ) {
    this.run = {
      signal: AbortSignal.any([signal, this.stop.signal]),
      ledger: NO_LEDGER,
      executionMode,
      fencingToken: 0,
      records: () => [],
      shown: [],
    };
    this.ahead = new ReadAhead(composer.compose(transcript, this.run), due, before);
  }

  /**
   * Begins to compose when `due` resolves. Undefined if composing does more than call a model. `instead` is the answer that this
   * one replaces because the append lost a race and was decided again. Its token usage counts for this one.
   */
  static begin(
    composer: AnswerComposer,
    transcript: Transcript,
    signal: AbortSignal,
    executionMode: ExecutionMode,
    due: Promise<void>,
    instead?: SpeculativeAnswer,
  ): SpeculativeAnswer | undefined {
    if (!composer.onlyAsksModels(transcript)) return undefined;
    return new SpeculativeAnswer(composer, transcript, signal, executionMode, due, instead?.ahead.used ?? []);
  }

  /** The deltas read so far and those that follow. From now on the answer may call tools. */
  taken(
    claimed: Pick<Run, 'ledger' | 'records' | 'fencingToken'>,
  ): Readonly<{ ready: readonly AnswerDelta[]; rest: AsyncIterable<AnswerDelta> }> {
    Object.assign(this.run, claimed);
    return { ready: this.ahead.take(), rest: this.ahead.rest() };
  }

  /** Discards the answer and stops its model call. */
  giveUp(): void {
    // With an explicit reason, no DOMException is created.
    this.stop.abort('given-up');
    this.ahead.giveUp();
  }
}
