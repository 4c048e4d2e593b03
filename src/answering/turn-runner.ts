import { setTimeout as pause } from 'node:timers/promises';
import { Injectable, Logger } from '@nestjs/common';
import { encodeMetadata } from '../kernel/codec.js';
import { EventStore } from '../kernel/event-store.js';
import { newId } from '../kernel/ids.js';
import { Rejection } from '../kernel/rejection.js';
import { Signals } from '../kernel/signals.js';
import { type Folded, outlasting, Streams } from '../kernel/streams.js';
import { conversation, startTurn } from '../conversation/conversation.decider.js';
import type { Conversation } from '../conversation/turn.policy.js';
import { conversationStream, type AnswerParts, type TurnOutcome, type Usage } from '../conversation/conversation.events.js';
import type { JournalAccess } from '../conversation/message.events.js';
import { MessageDigest } from '../conversation/message.policy.js';
import { problemsWith } from '../agents/response-schema.policy.js';
import { ModelFailed } from '../models/language-model.port.js';
import { AnswerComposer } from './answer-composer.js';
import { FramePublisher } from './frame-publisher.port.js';
import { Journal, JournalLost, RUN_PATIENCE_MS } from './journal.js';
import { failedWith, firstFrame, INTERRUPTED_TEXT, stoppedWith, TurnCloser } from './turn-closer.js';
import { readTranscript, type Transcript } from './transcript.js';

/** Who states what happens while a turn runs. */
export const TURN_RUNNER = 'system:turn-runner';
/** An answer and its thoughts together, as JSON: they have to fit one event. A model that writes more is cut off with an error. */
export const ANSWER_BYTES_MAX = 256 * 1024;
/** A stop is told by a signal, which may be lost: so often a running turn looks for one in the log. */
const STOP_LOOK_MS = 2_000;
const UNEXPECTED_TEXT = 'The answer failed unexpectedly. Please try again.';

/** Whoever runs a turn begins its journal with the same frame under this one name; what follows is each one's own. */
const ANY_RUNNER = 'any-runner';

export const stopSubject = (turnId: string): string => `turn.stop.${turnId}`;

type StopReason = 'stopped' | 'interrupted' | 'lost';
type Run = { readonly done: Promise<void>; readonly abort: (reason: StopReason) => void };

/** Where a running turn's answer stands. */
type Progress = { parts: AnswerParts; usage: Usage | null };

/**
 * Runs turns: takes a turn by an append, journals what the composer yields, and closes it. Whoever loses the append, or
 * finds the turn ended, does nothing; so a turn may be offered to any number of runners any number of times.
 */
@Injectable()
export class TurnRunner {
  /** Names this process as the producer of the turns it takes. */
  readonly producer = newId();
  private readonly runs = new Map<string, Run>();
  private readonly logger = new Logger(TurnRunner.name);
  private closing = false;

  constructor(
    private readonly store: EventStore,
    private readonly streams: Streams,
    private readonly signals: Signals,
    private readonly publisher: FramePublisher,
    private readonly composer: AnswerComposer,
    private readonly closer: TurnCloser,
  ) {}

  /** The turns under way here. */
  get running(): readonly string[] {
    return [...this.runs.keys()];
  }

  async run(conversationId: string, turnId: string): Promise<void> {
    if (this.runs.has(turnId)) return this.runs.get(turnId)!.done;
    // What is not begun yet is found in the log by whoever comes next, and run whole.
    if (this.closing) return;
    const controller = new AbortController();
    const done = this.take(conversationId, turnId, controller).finally(() => this.runs.delete(turnId));
    this.runs.set(turnId, { done, abort: (reason) => controller.abort(reason) });
    return done;
  }

  /** Begins no more turns; lets running ones finish for a while, then ends them as interrupted, so that no successor has to. */
  async close(graceMs: number): Promise<void> {
    this.closing = true;
    const finished = () => Promise.allSettled([...this.runs.values()].map((run) => run.done));
    await Promise.race([finished(), pause(graceMs, undefined, { ref: false })]);
    for (const run of this.runs.values()) run.abort('interrupted');
    await finished();
  }

  /** Brings to its end a turn that a dead producer left, or that nobody may run any more. */
  async settle(conversationId: string, turnId: string): Promise<void> {
    const transcript = await readTranscript(this.store, conversationId, turnId, TURN_RUNNER);
    if (!transcript) return;
    const soFar = await this.closer.readJournal(turnId);
    const journal = this.journal(transcript, soFar.digest);
    await unlessLost(this.closer.settle(transcript, soFar, journal, transcript.cause));
  }

  private async take(conversationId: string, turnId: string, controller: AbortController): Promise<void> {
    const transcript = await outlasting(RUN_PATIENCE_MS, () => readTranscript(this.store, conversationId, turnId, TURN_RUNNER));
    if (!transcript) return;
    const journal = this.journal(transcript, new MessageDigest(), ANY_RUNNER);
    journal.lost.addEventListener('abort', () => controller.abort('lost' satisfies StopReason), { once: true });
    // It says nothing of who runs the turn, so it need not wait until that is settled: both go to disk together.
    const isAsked = transcript.folded?.state.turns.get(turnId)?.status === 'asked';
    if (isAsked) journal.write(firstFrame(transcript));
    const claimed = await this.claim(transcript, journal);
    if (!claimed) return;
    if (!isAsked) journal.write(firstFrame(transcript));
    if (claimed.state.turns.get(turnId)?.stopRequested) controller.abort('stopped' satisfies StopReason);
    const stopWatching = this.watchForStop(claimed, turnId, controller);
    try {
      await unlessLost(this.answer(transcript, journal, claimed, controller));
    } finally {
      stopWatching();
    }
  }

  /** Takes the turn for this producer; undefined when it is not to be had. */
  private async claim({ asked, cause, folded }: Transcript, journal: Journal): Promise<Folded<Conversation> | undefined> {
    const { conversationId, turnId } = asked;
    const claim = startTurn(turnId, this.producer);
    try {
      return await outlasting(RUN_PATIENCE_MS, () =>
        this.streams.transact(conversationStream(conversationId), conversation, claim, cause, folded),
      );
    } catch (error) {
      if (!(error instanceof Rejection)) throw error;
      // Of a deleted conversation no turn is run any more, but whoever reads its stream is owed an end.
      if (error.code === 'conversation-not-found') {
        await unlessLost(journal.flush());
        await this.settle(conversationId, turnId);
      }
      return undefined;
    }
  }

  private async answer(
    transcript: Transcript,
    journal: Journal,
    claimed: Folded<Conversation>,
    controller: AbortController,
  ): Promise<void> {
    const { asked, cause } = transcript;
    const { settings } = asked;
    const progress: Progress = {
      parts: { answer: '', thought: '', sources: [], toolCalls: [], structured: settings.responseSchema !== null },
      usage: null,
    };
    const error = await this.produce(transcript, journal, progress, controller.signal).catch((thrown: unknown) =>
      this.told(thrown, asked.turnId),
    );
    const outcome = ((): TurnOutcome => {
      if (controller.signal.aborted && controller.signal.reason === 'stopped') return stoppedWith(asked, progress.parts);
      if (error !== undefined) return failedWith(asked, progress.parts, error.text, error.code);
      const { parts, usage } = progress;
      const { conversationId, turnId } = asked;
      return { type: 'TurnAnswered', data: { conversationId, turnId, ...parts, modelId: settings.modelId, usage } };
    })();
    if (outcome.type === 'TurnAnswered') this.writeResult(journal, progress.parts, settings.responseSchema);
    if (outcome.type === 'TurnFailed') {
      journal.write({ type: 'error', error: outcome.data.error, ...(outcome.data.code ? { code: outcome.data.code } : {}) });
    }
    await this.closer.close(journal, outcome, cause, claimed);
  }

  /** Journals the answer as it comes; resolves to what went wrong, if anything did. */
  private async produce(
    transcript: Transcript,
    journal: Journal,
    progress: Progress,
    signal: AbortSignal,
  ): Promise<UserError | undefined> {
    const isStructured = progress.parts.structured;
    let bytes = 0;
    for await (const piece of this.composer.compose(transcript, signal)) {
      if (signal.aborted) break;
      const { parts } = progress;
      if (piece.type === 'notice') journal.write({ type: 'notice', notice: piece.text });
      else if (piece.type === 'sources') progress.parts = { ...parts, sources: piece.sources };
      else if (piece.type === 'usage')
        progress.usage = { promptTokens: piece.promptTokens, completionTokens: piece.completionTokens };
      else {
        bytes += Buffer.byteLength(JSON.stringify(piece.text));
        if (bytes > ANSWER_BYTES_MAX) return { text: 'The answer became too long and was cut off.', code: 'answer-too-long' };
        if (piece.type === 'thought') {
          progress.parts = { ...parts, thought: parts.thought + piece.text };
          journal.write({ type: 'thought', thought: piece.text });
        } else {
          progress.parts = { ...parts, answer: parts.answer + piece.text };
          if (!isStructured) journal.write({ type: 'answer', answer: piece.text });
        }
        await journal.room();
      }
    }
    if (signal.aborted) return { text: INTERRUPTED_TEXT, code: 'interrupted' };
    const schema = transcript.asked.settings.responseSchema;
    if (schema && !isValid(progress.parts.answer, schema)) {
      return { text: 'The model gave an answer that does not fit the schema of this agent.', code: 'invalid-structured-answer' };
    }
    return undefined;
  }

  /** What the user is told of a failure: what the model or the rules said for them, and of anything else nothing. */
  private told(error: unknown, turnId: string): UserError {
    if (error instanceof JournalLost) throw error;
    if (error instanceof ModelFailed) return { text: error.message, code: error.failure };
    if (error instanceof Rejection) return { text: error.message, code: error.code };
    this.logger.error(`Turn ${turnId} failed unexpectedly.`, error);
    return { text: UNEXPECTED_TEXT, code: null };
  }

  private writeResult(journal: Journal, parts: AnswerParts, schema: unknown): void {
    journal.write({ type: 'source', source: parts.sources });
    journal.write({ type: 'tool_calls', tool_calls: parts.toolCalls });
    if (parts.structured) journal.write({ type: 'structured_answer', answer: parts.answer, structured: true, schema });
  }

  private journal(transcript: Transcript, digest: MessageDigest, firstWriter?: string): Journal {
    const { asked, ownerId, cause } = transcript;
    const { agentId, agentKeyId } = asked.settings;
    const access: JournalAccess = { conversationId: asked.conversationId, ownerId, agentKeyId, agentId };
    const metadata = encodeMetadata(cause);
    const firstMetadata = JSON.stringify({ ...(JSON.parse(metadata) as object), ...access });
    const writer = newId();
    const options = { messageId: asked.turnId, digest, writer, firstWriter: firstWriter ?? writer, metadata, firstMetadata };
    return new Journal(this.store, this.publisher, options);
  }

  private watchForStop(claimed: Folded<Conversation>, turnId: string, controller: AbortController): () => void {
    let folded = claimed;
    const look = async (): Promise<void> => {
      folded = await this.streams.fold(conversationStream(claimed.state.id), conversation, folded);
      const { state } = folded;
      if (state.status === 'deleted' || state.turns.get(turnId)?.stopRequested) controller.abort('stopped' satisfies StopReason);
    };
    // A look that fails is made again; the outcome is decided on the log in any case.
    const lookQuietly = () => void look().catch(() => undefined);
    const unsubscribe = this.signals.subscribe(stopSubject(turnId), lookQuietly);
    const timer = setInterval(lookQuietly, STOP_LOOK_MS).unref();
    return () => {
      clearInterval(timer);
      unsubscribe();
    };
  }
}

/** A structured answer is JSON, and valid against the schema of its agent. */
function isValid(answer: string, schema: Readonly<Record<string, unknown>>): boolean {
  try {
    return problemsWith(JSON.parse(answer), schema).length === 0;
  } catch {
    return false;
  }
}

/** Whoever else writes to the journal has taken the turn over. */
async function unlessLost(work: Promise<void>): Promise<void> {
  try {
    await work;
  } catch (error) {
    if (!(error instanceof JournalLost)) throw error;
  }
}

type UserError = Readonly<{ text: string; code: string | null }>;
