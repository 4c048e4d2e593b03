import { Injectable } from '@nestjs/common';
import { Commands } from '../../../kernel/commands.js';
import { Streams } from '../../../kernel/event-sourcing/streams.js';
import { Ids } from '../../../kernel/ids.js';
import { Timing } from '../../../kernel/timing.js';
import { ClaimTurn } from '../../conversation/turn.commands.js';
import { FramePublisher } from '../../journal/frame-publisher.port.js';
import { NO_WORKER_WRITER, unlessLost } from '../../journal/journal.js';
import { readTranscript, type Transcript, TURN_RUNNER } from '../loop/transcript.js';
import { firstFrame, type JournalSoFar, NO_WORKER_NOTICE } from './resumed-run.js';
import { TurnCloser, type Unanswered } from './turn-closer.js';
import { TurnJournals } from './turn-journals.js';
import { ANY_RUNNER } from './turn-runner.js';

export const NO_WORKER: Unanswered = { text: 'No worker took the question in time. Please ask again.', code: 'no_worker' };

/** What becomes of turns that no worker takes: their readers are told, and in the end they fail. Any process may do both. */
@Injectable()
export class UnclaimedTurns {
  private readonly journals: TurnJournals;
  /** Names this process as the one that ends turns. It holds no lease: what it leaves, any sweep brings to its end. */
  private readonly ender: string;

  constructor(
    private readonly commands: Commands,
    private readonly closer: TurnCloser,
    private readonly streams: Streams,
    publisher: FramePublisher,
    timing: Timing,
    ids: Ids,
  ) {
    this.ender = ids.next();
    this.journals = new TurnJournals(streams, publisher, timing, ids);
  }

  /** Says once for each run that no worker is alive. A worker that comes meanwhile goes on behind the notice. */
  async report(conversationId: string, turnId: string): Promise<void> {
    const soFar = await this.closer.readJournal(turnId);
    const transcript = await this.transcriptOf(conversationId, turnId);
    if (!transcript || !isUntold(transcript, soFar)) return;
    const journal = this.journals.open(transcript, soFar.digest, ANY_RUNNER, NO_WORKER_WRITER);
    if (soFar.message.runs < runsOf(transcript)) journal.write(firstFrame(transcript));
    journal.write({ type: 'notice', notice: NO_WORKER_NOTICE });
    await unlessLost(journal.flush());
  }

  /** Takes the turn as a worker would, and ends it. One of them gets it: both append at the revision that they have read. */
  async end(conversationId: string, turnId: string): Promise<void> {
    const found = await this.transcriptOf(conversationId, turnId);
    if (!found) return;
    const claimed = await this.commands.execute(new ClaimTurn(conversationId, turnId, this.ender, found.cause, found.folded));
    if (claimed === 'taken' || claimed === 'changed') return;
    const soFar = await this.closer.readJournal(turnId);
    const transcript = (await this.transcriptOf(conversationId, turnId))!;
    const journal = this.journals.open(transcript, soFar.digest, ANY_RUNNER);
    await unlessLost(this.closer.recover(transcript, soFar, journal, this.ender, NO_WORKER));
  }

  private transcriptOf(conversationId: string, turnId: string): Promise<Transcript | undefined> {
    return readTranscript(this.streams, conversationId, turnId, TURN_RUNNER);
  }
}

const runsOf = ({ folded, asked }: Transcript): number => folded?.state.turns.get(asked.turnId)?.runs ?? 0;

/** Whether the turn waits for a worker, and its journal ends before the notice: where its last run ended, or with the first frame of this one. */
function isUntold(transcript: Transcript, { digest, message, sinceLastRun }: JournalSoFar): boolean {
  const { folded, asked, resumption } = transcript;
  if (folded?.state.status !== 'open' || folded.state.turns.get(asked.turnId)?.status !== 'asked') return false;
  if (message.runs === runsOf(transcript)) return sinceLastRun.length === 1;
  return digest.lastId === (resumption?.paused.lastId ?? -1);
}
