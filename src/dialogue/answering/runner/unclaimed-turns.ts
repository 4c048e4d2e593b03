import { Injectable } from '@nestjs/common';
import { Commands } from '../../../kernel/commands.js';
import { Streams } from '../../../kernel/event-sourcing/streams.js';
import { Ids } from '../../../kernel/ids.js';
import { Timing } from '../../../kernel/timing.js';
import { ClaimTurn } from '../../conversation/turn.commands.js';
import { FramePublisher } from '../../journal/frame-publisher.port.js';
import { NO_WORKER_WRITER, unlessLost } from '../../journal/journal.js';
import { readTranscript, type Transcript } from '../loop/transcript.js';
import { firstFrame, type JournalSoFar, NO_WORKER_NOTICE } from './resumed-run.js';
import { TurnCloser, type Unanswered } from './turn-closer.js';
import { TurnJournals } from './turn-journals.js';
import { ANY_RUNNER } from './turn-runner.js';

export const NO_WORKER: Unanswered = { text: 'No worker took the question in time. Please ask again.', code: 'no_worker' };

/** Handles turns that no worker takes: writes a notice for their readers, and finally fails them. Any process may do both. */
@Injectable()
export class UnclaimedTurns {
  private readonly journals: TurnJournals;
  /**
   * The producer id under which this process ends turns. It has no lease, so a sweep in any process finishes what this one
   * leaves.
   */
  private readonly producer: string;

  constructor(
    private readonly commands: Commands,
    private readonly closer: TurnCloser,
    private readonly streams: Streams,
    publisher: FramePublisher,
    timing: Timing,
    ids: Ids,
  ) {
    this.producer = ids.next();
    this.journals = new TurnJournals(streams, publisher, timing, ids);
  }

  /**
   * Writes the notice that no worker is alive, once for each run. A worker that starts meanwhile writes its frames after the
   * notice.
   */
  async report(conversationId: string, turnId: string): Promise<void> {
    const soFar = await this.closer.readJournal(turnId);
    const transcript = await this.transcriptOf(conversationId, turnId);
    if (!transcript || !isUnreported(transcript, soFar)) return;
    const journal = this.journals.open(transcript, soFar.digest, ANY_RUNNER, NO_WORKER_WRITER);
    if (soFar.message.runs < runsOf(transcript)) journal.write(firstFrame(transcript));
    journal.write({ type: 'notice', notice: NO_WORKER_NOTICE });
    await unlessLost(journal.flush());
  }

  /**
   * Claims the turn as a worker does, and ends it. Both append at the revision that they have read, so only one claim succeeds.
   */
  async end(conversationId: string, turnId: string): Promise<void> {
    const found = await this.transcriptOf(conversationId, turnId);
    if (!found) return;
    const claimed = await this.commands.execute(new ClaimTurn(conversationId, turnId, this.producer, found.cause, found.folded));
    if (claimed === 'taken' || claimed === 'changed') return;
    const soFar = await this.closer.readJournal(turnId);
    const transcript = (await this.transcriptOf(conversationId, turnId))!;
    const journal = this.journals.open(transcript, soFar.digest, ANY_RUNNER);
    await unlessLost(this.closer.recover(transcript, soFar, journal, this.producer, NO_WORKER));
  }

  private transcriptOf(conversationId: string, turnId: string): Promise<Transcript | undefined> {
    return readTranscript(this.streams, conversationId, turnId);
  }
}

const runsOf = ({ folded, asked }: Transcript): number => folded?.state.turns.get(asked.turnId)?.runs ?? 0;

/**
 * Whether the turn waits for a worker and the notice is not written yet. The journal then ends with the last frame of the
 * previous run or with the first frame of this run.
 */
function isUnreported(transcript: Transcript, { digest, message, sinceLastRun }: JournalSoFar): boolean {
  const { folded, asked, resumption } = transcript;
  if (folded?.state.status !== 'open' || folded.state.turns.get(asked.turnId)?.status !== 'asked') return false;
  if (message.runs === runsOf(transcript)) return sinceLastRun.length === 1;
  return digest.lastId === (resumption?.paused.lastId ?? -1);
}
