import { TakeTurnFrom } from '../../conversation/turn.commands.js';
import type { Commands } from '../../../kernel/commands.js';
import type { Streams } from '../../../kernel/event-sourcing/streams.js';
import { unlessLost } from '../../journal/journal.js';
import { readTranscript, type Transcript, TURN_RUNNER } from '../loop/transcript.js';
import { type CanContinue, isResumable, type JournalSoFar } from './resumed-run.js';
import type { TurnCloser } from './turn-closer.js';
import type { TurnJournals } from './turn-journals.js';

/** A turn as its producer left it. */
type Left = Readonly<{ transcript: Transcript; soFar: JournalSoFar }>;

/** Brings further what producers left: to another run where nothing was shown that stands in its way, else to its end. */
export class TurnRecovery {
  constructor(
    private readonly streams: Streams,
    private readonly commands: Commands,
    private readonly closer: TurnCloser,
    private readonly journals: TurnJournals,
    private readonly canContinue: CanContinue,
    /** Who takes over what is ended here. */
    private readonly producer: string,
  ) {}

  /** `requeued`: any process may run it. */
  async recover(conversationId: string, turnId: string): Promise<'requeued' | 'recovered'> {
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
    // What a producer did up to where it had to give way is read after.
    const last = isTaken ? (await this.left(conversationId, turnId))! : found;
    const journal = this.journals.open(last.transcript, last.soFar.digest);
    await unlessLost(this.closer.recover(last.transcript, last.soFar, journal, this.producer));
    return 'recovered';
  }

  /**
   * Undefined when there is no such turn. The journal is read first: an outcome is stated before it is shown, so the
   * conversation says of all that was shown how it came about, and what is shown later shuts out who writes where this ends.
   */
  private async left(conversationId: string, turnId: string): Promise<Left | undefined> {
    const soFar = await this.closer.readJournal(turnId);
    const transcript = await readTranscript(this.streams, conversationId, turnId, TURN_RUNNER);
    return transcript && { transcript, soFar };
  }
}
