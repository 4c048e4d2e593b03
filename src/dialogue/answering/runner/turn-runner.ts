import { Injectable } from '@nestjs/common';
import { Ids } from '../../../kernel/ids.js';
import { Signals } from '../../../kernel/signals.js';
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
import { type Begun, ClaimedTurns, type StopReason } from './claimed-turns.js';
import type { ForeseenAnswer } from './foreseen-answer.js';
import type { Progress } from './answer-writer.js';
import { FramePublisher } from '../../journal/frame-publisher.port.js';
import { type Journal, JournalLost, RUN_PATIENCE_MS, unlessLost } from '../../journal/journal.js';
import { allowsMore, type CanContinue, firstFrame, isUnresumed, missingOfPause, shownOf } from './resumed-run.js';
import { TurnCloser } from './turn-closer.js';
import { SharedUse } from './shared-use.js';
import { StopWatch } from './stop-watch.js';
import { TurnJournals } from './turn-journals.js';
import { TurnRecovery } from './turn-recovery.js';
import { readTranscript, type Transcript, TURN_RUNNER } from '../loop/transcript.js';
import type { TakenTurn } from '../intake/turn-taker.js';

/** How often a resumed run looks where its journal ends, while the run before may still be writing that. */
const OPENINGS_MAX = 3;
/** How often a run that finds its turn changed begins anew; after that the sweep takes the turn. */
const CHANGES_MAX = 10;
/** Every producer begins a turn's journal with the same first frame under this one name; later frames have names of their own. */
export const ANY_RUNNER = 'any-runner';

/**
 * A turn that this process may have taken: `foresee` says what it would be, `settle` whether it has, `done` that nothing more is done
 * about it.
 */
export type ExpectedTurn = Readonly<{
  foresee: (transcript: Transcript) => void;
  settle: (taken: TakenTurn | undefined) => void;
  done: Promise<void>;
}>;

type RunInHand = {
  readonly done: Promise<void>;
  readonly abort: (reason: StopReason) => void;
  /** What was asked for meanwhile. */
  next?: Promise<void>;
};

/**
 * Runs turns: takes a turn by an append, journals what the composer yields, and closes it. A runner that loses the append, or
 * finds the turn ended, does nothing; so a turn may be offered to any number of runners any number of times.
 */
@Injectable()
export class TurnRunner {
  /** Names this process as the producer of the turns it takes. */
  readonly producer: string;
  private readonly runs = new Map<string, RunInHand>();
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
    this.claimed = new ClaimedTurns({ streams, commands, composer, closer, calls, sharedUse, stops, producer: this.producer });
    this.canContinue = (transcript, shown) => composer.canContinue(transcript, shown);
    this.recovery = new TurnRecovery(streams, commands, closer, this.journals, this.canContinue, this.producer);
  }

  /** The turns under way here. */
  get running(): readonly string[] {
    return [...this.runs.keys()];
  }

  async run(conversationId: string, turnId: string): Promise<void> {
    const inHand = this.runs.get(turnId);
    // Who resumes a turn may be faster than the run that is still showing its pause.
    const again = () => this.run(conversationId, turnId);
    if (inHand) return (inHand.next ??= inHand.done.then(again, again));
    // The next process finds a turn that is not begun yet in the log, and runs all of it.
    if (this.closing) return;
    return this.inHand(turnId, (controller) => this.take(conversationId, turnId, controller));
  }

  /** Runs a turn that this process takes in the append that asks it, once it is known to be taken. It is in hand from now on. */
  expect(turnId: string): ExpectedTurn {
    let settle!: ExpectedTurn['settle'];
    let foresee!: ExpectedTurn['foresee'];
    const settled = new Promise<TakenTurn | undefined>((resolve) => (settle = resolve));
    const done = this.inHand(turnId, async (controller) => {
      const { signal } = controller;
      let foreseen: ForeseenAnswer | undefined;
      foresee = (transcript) => {
        foreseen?.giveUp();
        foreseen = this.claimed.foresee(transcript, signal, foreseen);
      };
      // At the end of this process nothing is waited for: the next one finds the turn in the log.
      signal.addEventListener('abort', () => settle(undefined), { once: true });
      const taken = await settled;
      try {
        if (taken) await this.runTaken(taken, controller, foreseen);
      } finally {
        foreseen?.giveUp();
      }
    });
    return { foresee, settle, done };
  }

  private runTaken({ transcript, claimed }: TakenTurn, controller: AbortController, foreseen?: ForeseenAnswer): Promise<void> {
    // It has come too late to be finished: its readers get an end, and no successor has to write it.
    if (this.closing) controller.abort('interrupted' satisfies StopReason);
    const begun = beginning(transcript, this.opening(transcript, controller), claimed);
    return this.claimed.run({ ...begun, opening: firstFrame(transcript), foreseen }, controller);
  }

  private inHand(turnId: string, work: (controller: AbortController) => Promise<void>): Promise<void> {
    const controller = new AbortController();
    const done = work(controller).finally(() => this.runs.delete(turnId));
    this.runs.set(turnId, { done, abort: (reason) => controller.abort(reason) });
    return done;
  }

  /** Begins no more turns; lets running ones finish for a while, then ends them as interrupted, so that no successor has to. */
  async close(graceMs: number): Promise<void> {
    this.closing = true;
    const finished = () => Promise.allSettled([...this.runs.values()].map((run) => run.done));
    const late = new Promise<void>((resolve) => this.timing.after(graceMs, resolve, { unref: true }));
    await Promise.race([finished(), late]);
    for (const run of this.runs.values()) run.abort('interrupted');
    await finished();
  }

  /** Recovers a turn whose producer is dead, or that may not be run any more. `requeued`: any process may run it. */
  recover(conversationId: string, turnId: string): Promise<'requeued' | 'recovered'> {
    return this.recovery.recover(conversationId, turnId);
  }

  private async take(
    conversationId: string,
    turnId: string,
    controller: AbortController,
    changesLeft = CHANGES_MAX,
  ): Promise<void> {
    const transcript = await this.streams.retryWhileUnavailable(RUN_PATIENCE_MS, () =>
      readTranscript(this.streams, conversationId, turnId, TURN_RUNNER),
    );
    if (!transcript) return;
    const turn = transcript.folded?.state.turns.get(turnId);
    // It ended while it was paused: no run is left to write the end that its readers wait for.
    if (transcript.resumption && isUnresumed(transcript.resumption) && !turn?.sealed) {
      return void (await this.recover(conversationId, turnId));
    }
    const begun =
      transcript.resumption || (turn && turn.requeues > 0)
        ? await this.goOn(transcript, controller)
        : await this.begin(transcript, turn?.status === 'asked', controller);
    // A turn of a deleted conversation is not run any more, but the readers of its stream get an end.
    if (begun === 'deleted' || begun === 'shown') return void (await this.recover(conversationId, turnId));
    if (begun === 'changed' && changesLeft > 0) return this.take(conversationId, turnId, controller, changesLeft - 1);
    if (typeof begun !== 'string') await this.claimed.run(begun, controller);
  }

  /** The run of a turn that was asked. */
  private async begin(transcript: Transcript, isAsked: boolean, controller: AbortController): Promise<Begun | NotHad> {
    const journal = this.opening(transcript, controller);
    // It says nothing of who runs the turn, so it need not wait until that is settled: both go to disk together.
    if (isAsked) journal.write(firstFrame(transcript));
    const claimed = await this.claim(transcript);
    if (typeof claimed === 'string') {
      if (claimed !== 'taken') await unlessLost(journal.flush());
      return claimed;
    }
    if (!isAsked) journal.write(firstFrame(transcript));
    return beginning(transcript, journal, claimed);
  }

  /** The journal of a turn's first run. */
  private opening(transcript: Transcript, controller: AbortController): Journal {
    const journal = this.journals.open(transcript, new MessageDigest(), ANY_RUNNER);
    journal.lost.addEventListener('abort', () => controller.abort('lost' satisfies StopReason), { once: true });
    return journal;
  }

  /** The run of a turn that goes on, after a pause or a producer that is gone: its answer grows on what was there, its journal where it ended. */
  private async goOn(transcript: Transcript, controller: AbortController): Promise<Begun | NotHad> {
    const claimed = await this.claim(transcript);
    if (typeof claimed === 'string') return claimed;
    const turn = claimed.state.turns.get(transcript.asked.turnId)!;
    const opened = await this.opened(transcript, turn);
    if (!opened) return 'taken';
    // A producer that was taken for dead has gone on meanwhile.
    if (opened === 'shown') return 'shown';
    const { journal, message, shown } = opened;
    journal.lost.addEventListener('abort', () => controller.abort('lost' satisfies StopReason), { once: true });
    return { transcript, journal, claimed, start: startOf(transcript, turn, message), shown };
  }

  /** The journal of a resumed run from its first frame on; undefined when others write to it who have no business there. */
  private async opened(transcript: Transcript, turn: Turn): Promise<Opened | 'shown' | undefined> {
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

/** Why a turn cannot be run: its conversation is gone, somebody else has it, it is not what it was, or more was shown than can be gone on from. */
type NotHad = 'deleted' | 'taken' | 'changed' | 'shown';
type Opened = Readonly<{ journal: Journal; message: Message; shown: Run['shown'] }>;

/** A run of which nothing is written yet. */
function beginning(transcript: Transcript, journal: Journal, claimed: Folded<Conversation>): Begun {
  const structured = transcript.asked.settings.responseSchema !== null;
  const parts = { answer: '', thought: '', sources: [], toolCalls: [], structured };
  return { transcript, journal, claimed, start: { parts, usage: null }, shown: [] };
}

/**
 * What a run that goes on adds to: the answer as it stood at its pause, with the ends that its calls were shown to have since; of an
 * agent that records what it has done, all that was shown.
 */
function startOf({ asked, resumption }: Transcript, turn: Turn, { parts }: Message): Progress {
  const paused = resumption?.paused;
  const calls = withToolCalls(paused?.toolCalls ?? [], parts.toolCalls);
  const toolCalls = inCallOrder(calls, paused?.calls ?? []);
  const { answer, thought, sources } = turn.goesOn || !paused ? parts : paused;
  const structured = asked.settings.responseSchema !== null;
  return { parts: { answer, thought, sources, structured, toolCalls }, usage: paused?.usage ?? null };
}
