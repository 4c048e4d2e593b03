import type { Usage } from '../../conversation/conversation.events.js';
import type { AnswerDelta } from './answer-delta.js';

/** So many deltas are read ahead at most. */
export const READ_AHEAD_MAX = 256;

/** What only says something. After any other delta, what is composed next may have effects. */
const HARMLESS: ReadonlySet<AnswerDelta['type']> = new Set(['text', 'thought', 'notice', 'sources', 'usage']);

/**
 * An answer that is composed while it is not settled yet whether it is wanted: it is read as far as that does nothing but ask a
 * model, and given to nobody. Then it is taken, from its beginning, or given up.
 */
export class ReadAhead {
  private readonly read: AnswerDelta[];
  private readonly reading: Promise<void>;
  private isTaken = false;
  private isOver = false;

  /** `before`: deltas that the answer begins with. */
  constructor(
    private readonly deltas: AsyncGenerator<AnswerDelta>,
    before: readonly AnswerDelta[] = [],
  ) {
    this.read = [...before];
    this.reading = this.readOn();
    // Whoever takes the answer hears of it.
    this.reading.catch(() => undefined);
  }

  /** What models have used for it so far, as they have said. */
  get used(): readonly (AnswerDelta & Usage)[] {
    return this.read.flatMap((delta) => (delta.type === 'usage' ? [delta] : []));
  }

  /** What was read so far. */
  take(): readonly AnswerDelta[] {
    this.isTaken = true;
    return this.read.splice(0);
  }

  /** What follows on that. @throws what composing throws */
  async *rest(): AsyncGenerator<AnswerDelta> {
    await this.reading;
    yield* this.read.splice(0);
    if (!this.isOver) yield* this.deltas;
  }

  /** Nothing more is wanted. */
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
