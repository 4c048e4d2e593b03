import { Injectable } from '@nestjs/common';
import { Ids } from '../../../kernel/ids.js';
import { Signals } from '../../../kernel/messaging/signals.js';
import { type Folded, Streams } from '../../../kernel/event-sourcing/streams.js';
import { Timing } from '../../../kernel/timing.js';
import { Commands } from '../../../kernel/commands.js';
import { type Claim, ClaimTurn } from '../../conversation/turn.commands.js';
import type { Conversation, Turn } from '../../conversation/turn.policy.js';
import { inCallOrder, withToolCalls } from '../../conversation/tool-call.policy.js';
import { type Message, MessageDigest, withFrame } from '../../journal/message.policy.js';
import { BackgroundCalls } from '../loop/background-calls.port.js';
import type { Run } from '../loop/agent-loop.js';
import { AnswerComposer } from './answer-composer.js';
import { type ClaimedTurn, ClaimedTurns, type StopReason } from './claimed-turns.js';
import type { SpeculativeAnswer } from './speculative-answer.js';
import type { Progress } from './answer-writer.js';
import { FramePublisher } from '../../journal/frame-publisher.port.js';
import { type Journal, JournalLost, RUN_PATIENCE_MS, unlessLost } from '../../journal/journal.js';
import { allowsMore, type CanContinue, firstFrame, isUnresumed, missingOfPause, shownOf } from './resumed-run.js';
import { TurnCloser } from './turn-closer.js';
import { SharedUse } from './shared-use.js';
import { StopWatch } from './stop-watch.js';
import { TurnJournals } from './turn-journals.js';
import { type Recovery, TurnRecovery } from './turn-recovery.js';
import { readTranscript, type Transcript } from '../loop/transcript.js';
import type { TakenTurn } from '../intake/turn-taker.js';

/** How many times a resumed run tries to open its journal, because the previous run may still be writing to it. */
const OPENINGS_MAX = 3;
/** How many times a run starts again when its turn has changed before the claim. After that the sweep picks the turn up. */
const CHANGES_MAX = 10;
/**
 * The writer name of a journal's first frame, which is the same whichever producer writes it. Later frames have the producer's
 * writer id.
 */
export const ANY_RUNNER = 'any-runner';

/**
 * A turn that this process may claim in the append of its question. `expectTranscript` passes the expected transcript, `settle` reports
 * whether the append claimed the turn, and `done` resolves when the work on it is finished.
 */
export type ExpectedTurn = Readonly<{
  expectTranscript: (transcript: Transcript) => void;
  settle: (taken: TakenTurn | undefined) => void;
  done: Promise<void>;
}>;

type RunInProgress = {
  readonly done: Promise<void>;
  readonly abort: (reason: StopReason) => void;
  /** The run that was requested while this one was in progress. */
  next?: Promise<void>;
};

/**
 * Runs turns: claims a turn by an append, journals what the composer yields, and closes the turn. A runner that loses the append,
 * or finds the turn ended, does nothing. A turn may therefore be offered to any number of runners any number of times.
 */
@Injectable()
export class TurnRunner {
  /** The producer id of this process. */
  readonly producer: string;
  private readonly runs = new Map<string, RunInProgress>();
  private readonly journals: TurnJournals;
  private readonly recovery: TurnRecovery;
  private readonly claimed: ClaimedTurns;
  private readonly canContinue: CanContinue;
  private closing = false;

  constructor(
    private readonly streams: Streams,
    private readonly commands: Commands,
    signals: Signals,
    publisher: FramePublisher,
    composer: AnswerComposer,
    private readonly closer: TurnCloser,
    calls: BackgroundCalls,
    private readonly timing: Timing,
    ids: Ids,
    sharedUse: SharedUse,
  ) {
    this.producer = ids.next();
    this.journals = new TurnJournals(streams, publisher, timing, ids);
    const stops = new StopWatch(streams, signals, timing);
    this.claimed = new ClaimedTurns({
      streams,
      commands,
      composer,
      closer,
      calls,
      sharedUse,
      stops,
      timing,
      producer: this.producer,
    });
    this.canContinue = (transcript, shown) => composer.canContinue(transcript, shown);
    this.recovery = new TurnRecovery(streams, commands, closer, this.journals, this.canContinue, this.producer);
  }

  /** The ids of the turns that this process is running. */
  get running(): readonly string[] {
    return [...this.runs.keys()];
  }

  async run(conversationId: string, turnId: string): Promise<void> {
    const inHand = this.runs.get(turnId);
    // A client may resume a turn while its previous run is still writing the frames of the pause.
    const again = () => this.run(conversationId, turnId);
    if (inHand) return (inHand.next ??= inHand.done.then(again, again));
    // Another process finds the turn in the log and runs it.
    if (this.closing) return;
    return this.inHand(turnId, (controller) => this.take(conversationId, turnId, controller));
  }

  /**
   * Registers a turn that the append of its question may claim for this process. It counts as running from now on, and runs once
   * `settle` confirms the claim.
   */
  expect(turnId: string): ExpectedTurn {
    let settle!: ExpectedTurn['settle'];
    let expectTranscript!: ExpectedTurn['expectTranscript'];
    const settled = new Promise<TakenTurn | undefined>((resolve) => (settle = resolve));
    const done = this.inHand(turnId, async (controller) => {
      const { signal } = controller;
      let speculative: SpeculativeAnswer | undefined;
      expectTranscript = (transcript) => {
        speculative?.giveUp();
        speculative = this.claimed.speculate(transcript, signal, speculative);
      };
      // A process that shuts down does not wait for the append. Another process finds the turn in the log.
      signal.addEventListener('abort', () => settle(undefined), { once: true });
      const taken = await settled;
      try {
        if (taken) await this.runTaken(taken, controller, speculative);
      } finally {
        speculative?.giveUp();
      }
    });
    return { expectTranscript, settle, done };
  }

  private runTaken(
    { transcript, claimed }: TakenTurn,
    controller: AbortController,
    speculative?: SpeculativeAnswer,
  ): Promise<void> {
    // The process is shutting down: it ends the turn as interrupted itself, so that no other process has to.
    if (this.closing) controller.abort('interrupted' satisfies StopReason);
    const turn = firstRun(transcript, this.openFirst(transcript, controller), claimed);
    return this.claimed.run({ ...turn, opening: firstFrame(transcript), speculative }, controller);
  }

  private inHand(turnId: string, work: (controller: AbortController) => Promise<void>): Promise<void> {
    const controller = new AbortController();
    const done = work(controller).finally(() => this.runs.delete(turnId));
    this.runs.set(turnId, { done, abort: (reason) => controller.abort(reason) });
    return done;
  }

  /**
   * Starts no more turns, lets running ones finish for `graceMs`, then ends them as interrupted, so that no other process has to.
   */
  async close(graceMs: number): Promise<void> {
    this.closing = true;
    const finished = () => Promise.allSettled([...this.runs.values()].map((run) => run.done));
    const late = new Promise<void>((resolve) => this.timing.after(graceMs, resolve, { unref: true }));
    await Promise.race([finished(), late]);
    for (const run of this.runs.values()) run.abort('interrupted');
    await finished();
  }

  /** Recovers a turn whose producer is dead, or that may not run any more. */
  recover(conversationId: string, turnId: string): Promise<Recovery> {
    return this.recovery.recover(conversationId, turnId);
  }

  private async take(
    conversationId: string,
    turnId: string,
    controller: AbortController,
    changesLeft = CHANGES_MAX,
  ): Promise<void> {
    const transcript = await this.streams.retryWhileUnavailable(RUN_PATIENCE_MS, () =>
      readTranscript(this.streams, conversationId, turnId),
    );
    if (!transcript) return;
    const turn = transcript.folded?.state.turns.get(turnId);
    // The turn ended while it was paused, so no run writes the end that its readers wait for.
    if (transcript.resumption && isUnresumed(transcript.resumption) && !turn?.sealed) {
      return void (await this.recover(conversationId, turnId));
    }
    const claim =
      transcript.resumption || (turn && turn.requeues > 0)
        ? await this.continueTurn(transcript, controller)
        : await this.startTurn(transcript, turn?.status === 'asked', controller);
    // A turn of a deleted conversation does not run, but recovery ends the stream for its readers.
    if (claim === 'deleted' || claim === 'shown') return void (await this.recover(conversationId, turnId));
    if (claim === 'changed' && changesLeft > 0) return this.take(conversationId, turnId, controller, changesLeft - 1);
    if (typeof claim !== 'string') await this.claimed.run(claim, controller);
  }

  /** Claims a turn for its first run. */
  private async startTurn(
    transcript: Transcript,
    isAsked: boolean,
    controller: AbortController,
  ): Promise<ClaimedTurn | NotClaimed> {
    const journal = this.openFirst(transcript, controller);
    // The first frame does not name the producer, so it need not wait for the claim, and both are stored together.
    if (isAsked) journal.write(firstFrame(transcript));
    const claimed = await this.claim(transcript);
    if (typeof claimed === 'string') {
      if (claimed !== 'taken') await unlessLost(journal.flush());
      return claimed;
    }
    if (!isAsked) journal.write(firstFrame(transcript));
    return firstRun(transcript, journal, claimed);
  }

  /** Opens the journal of a turn's first run. */
  private openFirst(transcript: Transcript, controller: AbortController): Journal {
    const journal = this.journals.open(transcript, new MessageDigest(), ANY_RUNNER);
    journal.lost.addEventListener('abort', () => controller.abort('lost' satisfies StopReason), { once: true });
    return journal;
  }

  /**
   * Claims a turn that continues after a pause or after its producer died. The answer and the journal continue where they ended.
   */
  private async continueTurn(transcript: Transcript, controller: AbortController): Promise<ClaimedTurn | NotClaimed> {
    const claimed = await this.claim(transcript);
    if (typeof claimed === 'string') return claimed;
    const turn = claimed.state.turns.get(transcript.asked.turnId)!;
    const opened = await this.openContinued(transcript, turn);
    if (!opened) return 'taken';
    // A producer that was considered dead has written more frames meanwhile.
    if (opened === 'shown') return 'shown';
    const { journal, message, shown } = opened;
    journal.lost.addEventListener('abort', () => controller.abort('lost' satisfies StopReason), { once: true });
    return { transcript, journal, claimed, start: startOf(transcript, turn, message), shown };
  }

  /** Opens the journal of a resumed run and writes its first frames; undefined if another writer keeps appending to it. */
  private async openContinued(transcript: Transcript, turn: Turn): Promise<OpenedRun | 'shown' | undefined> {
    const { asked, resumption } = transcript;
    for (let opening = 1; opening <= OPENINGS_MAX; opening++) {
      const soFar = await this.streams.retryWhileUnavailable(RUN_PATIENCE_MS, () => this.closer.readJournal(asked.turnId));
      if (!(await allowsMore(transcript, soFar, this.canContinue))) return 'shown';
      const { digest, message } = soFar;
      const journal = this.journals.open(transcript, digest);
      const frames = [
        ...(resumption ? missingOfPause(journal, resumption.paused) : []),
        ...(message.runs < turn.runs ? [firstFrame(transcript)] : []),
      ];
      for (const frame of frames) journal.write(frame);
      try {
        await journal.flush();
        return { journal, message: frames.reduce(withFrame, message), shown: shownOf(turn, soFar) };
      } catch (error) {
        if (!(error instanceof JournalLost)) throw error;
      }
    }
    return undefined;
  }

  private claim({ asked: { conversationId, turnId }, cause, folded }: Transcript): Promise<Claim> {
    const claim = new ClaimTurn(conversationId, turnId, this.producer, cause, folded);
    return this.streams.retryWhileUnavailable(RUN_PATIENCE_MS, () => this.commands.execute(claim));
  }
}

/**
 * Why a turn cannot run: its conversation is deleted, another producer has claimed it, it has changed since it was read, or the
 * frames shown so far do not allow a continuation.
 */
type NotClaimed = 'deleted' | 'taken' | 'changed' | 'shown';
type OpenedRun = Readonly<{ journal: Journal; message: Message; shown: Run['shown'] }>;

/** The start of a first run: an empty answer. */
function firstRun(transcript: Transcript, journal: Journal, claimed: Folded<Conversation>): ClaimedTurn {
  const structured = transcript.asked.settings.responseSchema !== null;
  const parts = { answer: '', thought: '', sources: [], toolCalls: [], structured };
  return { transcript, journal, claimed, start: { parts, usage: null }, shown: [] };
}

/**
 * The progress that a continued run adds to: the answer as it was at the pause, with the results of calls that were shown since.
 * For an agent that records its steps it is everything that was shown.
 */
function startOf({ asked, resumption }: Transcript, turn: Turn, { parts }: Message): Progress {
  const paused = resumption?.paused;
  const calls = withToolCalls(paused?.toolCalls ?? [], parts.toolCalls);
  const toolCalls = inCallOrder(calls, paused?.calls ?? []);
  const { answer, thought, sources } = turn.goesOn || !paused ? parts : paused;
  const structured = asked.settings.responseSchema !== null;
  return { parts: { answer, thought, sources, structured, toolCalls }, usage: paused?.usage ?? null };
}
