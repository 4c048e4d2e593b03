import { TakeTurnFrom } from '../../conversation/turn.commands.js';
import type { Commands } from '../../../kernel/commands.js';
import type { Streams } from '../../../kernel/event-sourcing/streams.js';
import { unlessLost } from '../../journal/journal.js';
import { readTranscript, type Transcript } from '../loop/transcript.js';
import { type CanContinue, isResumable, type JournalSoFar } from './resumed-run.js';
import type { TurnCloser } from './turn-closer.js';
import type { TurnJournals } from './turn-journals.js';

/** The state of a turn that its producer left unfinished. */
type Left = Readonly<{ transcript: Transcript; soFar: JournalSoFar }>;

/**
 * `requeued`: any process may run the turn. `overtaken`: another writer has appended to the journal, and may not have completed it.
 */
export type Recovery = 'requeued' | 'recovered' | 'overtaken';

/**
 * Recovers turns that producers left unfinished: requeues a turn if the frames it has shown allow another run, and ends it
 * otherwise.
 */
export class TurnRecovery {
  constructor(
    private readonly streams: Streams,
    private readonly commands: Commands,
    private readonly closer: TurnCloser,
    private readonly journals: TurnJournals,
    private readonly canContinue: CanContinue,
    /** The producer id that claims a turn in order to end it. */
    private readonly producer: string,
  ) {}

  async recover(conversationId: string, turnId: string): Promise<Recovery> {
    const found = await this.left(conversationId, turnId);
    const turn = found?.transcript.folded?.state.turns.get(turnId);
    if (!found || !turn) return 'recovered';
    const { transcript, soFar } = found;
    const { cause, folded } = transcript;
    const taken = (by: string | null) =>
      this.commands.execute(new TakeTurnFrom(conversationId, turnId, turn.producer, by, cause, folded!));
    if (await isResumable(transcript, soFar, this.canContinue)) return (await taken(null)) ? 'requeued' : 'recovered';
    const isTaken = turn.status === 'running' && folded!.state.status === 'open' && turn.producer !== this.producer;
    if (isTaken && !(await taken(this.producer))) return 'recovered';
    // Reads again, because the former producer may have written until this append took the turn from it.
    const last = isTaken ? (await this.left(conversationId, turnId))! : found;
    const journal = this.journals.open(last.transcript, last.soFar.digest);
    const isDone = await unlessLost(this.closer.recover(last.transcript, last.soFar, journal, this.producer));
    return isDone ? 'recovered' : 'overtaken';
  }

  /**
   * Undefined if there is no such turn. Reads the journal before the conversation: a producer appends each outcome before the
   * frames that show it, so the conversation explains all frames read. If the producer writes more frames later, the recovery's
   * append after the last frame read fails.
   */
  private async left(conversationId: string, turnId: string): Promise<Left | undefined> {
    const soFar = await this.closer.readJournal(turnId);
    const transcript = await readTranscript(this.streams, conversationId, turnId);
    return transcript && { transcript, soFar };
  }
}
