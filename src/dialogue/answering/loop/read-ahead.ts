import type { Usage } from '../../conversation/conversation.events.js';
import type { AnswerDelta } from './answer-delta.js';

/** Maximum number of deltas that are read ahead. */
export const READ_AHEAD_MAX = 256;

/** Delta types after which composing may continue without side effects. After any other delta, the next step may have effects. */
const HARMLESS: ReadonlySet<AnswerDelta['type']> = new Set(['text', 'thought', 'notice', 'sources', 'usage']);

/**
 * Composes an answer before it is known whether it is needed. It reads the deltas only as long as composing does nothing but call
 * a model, and holds them back. The caller then takes the answer from its beginning or discards it.
 */
export class ReadAhead {
  private readonly read: AnswerDelta[];
  private readonly reading: Promise<void>;
  private isTaken = false;
  private isOver = false;

  /**
   * @param due resolves when composing may begin
   * @param before deltas with which the answer begins
   */
  constructor(
    private readonly deltas: AsyncGenerator<AnswerDelta>,
    due: Promise<void>,
    before: readonly AnswerDelta[] = [],
  ) {
    this.read = [...before];
    this.reading = due.then(() => this.readOn());
    // `rest` throws the error to the caller that takes the answer.
    this.reading.catch(() => undefined);
  }

  /** The usage that models have reported for the answer so far. */
  get used(): readonly (AnswerDelta & Usage)[] {
    return this.read.flatMap((delta) => (delta.type === 'usage' ? [delta] : []));
  }

  /** Takes the deltas read so far. */
  take(): readonly AnswerDelta[] {
    this.isTaken = true;
    return this.read.splice(0);
  }

  /** The deltas that follow. @throws the errors of composing */
  async *rest(): AsyncGenerator<AnswerDelta> {
    await this.reading;
    yield* this.read.splice(0);
    if (!this.isOver) yield* this.deltas;
  }

  /** Discards the answer and ends its generator. */
  giveUp(): void {
    this.isTaken = true;
    this.deltas.return(undefined).catch(() => undefined);
  }

  private async readOn(): Promise<void> {
    while (!this.isTaken && this.read.length < READ_AHEAD_MAX) {
      const next = await this.deltas.next();
      if (next.done) {
        this.isOver = true;
        return;
      }
      this.read.push(next.value);
      if (!HARMLESS.has(next.value.type)) return;
    }
  }
}
