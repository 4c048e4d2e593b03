import { GrowingText } from '../../../kernel/growing-text.js';
import type { OpenMatches, Source } from '../../conversation/conversation.events.js';
import { ModelFailed } from '../../../resources/models/model/language-model.port.js';
import type { AnswerDelta, ProgressFrame } from '../loop/answer-delta.js';
import { structuredAnswer } from '../loop/structured-answer.policy.js';
import { GuardrailBlock } from '../loop/guardrail-block.js';
import type { TextChannel } from '../loop/text-channel.js';
import type { TurnGuard } from '../loop/turn-guard.js';

/** Maximum length of text that is held back until it is complete. The size limit of an answer is the same number, in bytes. */
const WHOLE_CHARACTERS_MAX = 256 * 1024;

type Kind = 'text' | 'thought';
const KINDS: readonly Kind[] = ['thought', 'text'];

export type AnswerContext = Readonly<{
  question: string;
  /** The schema of a structured answer, which is shown only when it is complete. */
  schema: Readonly<Record<string, unknown>> | null;
  /** The text that an earlier run of the same turn has shown, and the matches with which it ends. */
  before: Readonly<{ answer: string; thought: string; openMatches?: OpenMatches }>;
}>;

/**
 * Checks every delta between the composer and the writer. Holds text back while it may still become part of a match, or until it
 * is complete if a blocking check needs all of it. Passes other deltas on at once, after the sentences that were complete before
 * them.
 */
export class GuardedAnswer {
  private readonly channels: Readonly<Record<Kind, TextChannel>>;
  /** All text that was composed, for the checks of complete texts. */
  private readonly whole: Record<Kind, GrowingText>;
  /** Texts of other deltas, collected if the policy only monitors. */
  private readonly others: unknown[] = [];
  private readonly documents: string[] = [];
  /** The policy neither masks nor blocks, so the answer is shown unchanged and checked at its end. */
  private readonly onlyObserves: boolean;
  private readonly holdsAll: boolean;

  constructor(
    private readonly guard: TurnGuard,
    private readonly context: AnswerContext,
  ) {
    const { mode, controls } = guard.policy;
    const { before, schema } = context;
    this.onlyObserves = mode === 'monitor_only' || !controls.some(({ stage, action }) => stage === 'output' && action !== 'flag');
    this.holdsAll = schema !== null || guard.holdsOutput;
    this.whole = { text: new GrowingText(before.answer), thought: new GrowingText(before.thought) };
    const { answer, thought } = before.openMatches ?? {};
    this.channels = { text: guard.shownText(before.answer, answer), thought: guard.shownText(before.thought, thought) };
  }

  /** @throws GuardrailBlock */
  async *through(deltas: AsyncIterable<AnswerDelta>): AsyncGenerator<AnswerDelta> {
    try {
      if (this.onlyObserves) yield* this.observing(deltas);
      else yield* this.checking(deltas);
    } finally {
      await this.noteMatches();
    }
  }

  private async *checking(deltas: AsyncIterable<AnswerDelta>): AsyncGenerator<AnswerDelta> {
    let pause: AnswerDelta | undefined;
    try {
      for await (const delta of deltas) {
        if (delta.type === 'pause') pause = delta;
        else yield* this.guarded(delta);
      }
    } catch (error) {
      if (error instanceof GuardrailBlock) throw error;
      // Text that is held for a check of the complete text is dropped, because the text stays incomplete.
      if (!this.holdsAll) yield* this.release('end');
      throw this.maskedFailure(error);
    }
    yield* this.finish();
    if (pause) yield { ...pause, ...this.amidMatches() };
  }

  private amidMatches(): Readonly<{ openMatches?: OpenMatches }> {
    const [answer, thought] = [this.channels.text.openMatch, this.channels.thought.openMatch];
    return answer || thought ? { openMatches: { ...(answer && { answer }), ...(thought && { thought }) } } : {};
  }

  /** Notes what was found, however the answer ended. */
  private async noteMatches(): Promise<void> {
    for (const kind of KINDS) {
      this.guard.note(this.channels[kind].decisions);
      await this.guard.noteFlags('output', this.whole[kind].text);
    }
    this.guard.valueNow('output', this.others);
  }

  private async *observing(deltas: AsyncIterable<AnswerDelta>): AsyncGenerator<AnswerDelta> {
    let pause: AnswerDelta | undefined;
    for await (const delta of deltas) {
      this.see(delta);
      if (delta.type === 'pause') pause = delta;
      else yield delta;
    }
    yield* this.judgeAll();
    if (pause) yield pause;
  }

  private see(delta: AnswerDelta): void {
    if (delta.type === 'text' || delta.type === 'thought') this.whole[delta.type].add(delta.text);
    else if (delta.type === 'round-over' && this.context.schema) this.whole.text = new GrowingText();
    else if (delta.type === 'notice') this.others.push(delta.text);
    else if (delta.type === 'progress') this.others.push(textsOf(delta.frame));
    else if (delta.type === 'sources' || delta.type === 'found') this.know(delta.sources);
  }

  private async *judgeAll(): AsyncGenerator<AnswerDelta> {
    const { guard, whole } = this;
    guard.note((await guard.scan('output', whole.text.text, this.scanContext, ['remote', 'complete'])).decisions);
    yield* this.used();
  }

  private async *guarded(delta: Exclude<AnswerDelta, { type: 'pause' }>): AsyncGenerator<AnswerDelta> {
    switch (delta.type) {
      case 'text':
      case 'thought':
        yield* this.written(delta.type, delta.text);
        break;
      case 'notice':
        yield { ...delta, text: this.guard.valueNow('output', delta.text) };
        break;
      case 'tool-call':
        yield* this.release('seam');
        yield { ...delta, record: this.maskedCall(delta.record) };
        break;
      case 'progress':
        yield* this.release('seam');
        yield { ...delta, frame: this.maskedFrame(delta.frame) };
        break;
      case 'checkpoint':
        yield* this.release('end');
        yield delta;
        break;
      case 'round-over':
        if (this.context.schema) this.forget();
        yield delta;
        break;
      case 'sources':
      case 'found':
        this.know(delta.sources);
        yield delta;
        break;
      case 'calls':
        yield { ...delta, records: delta.records.map((record) => this.maskedCall(record)) };
        break;
      case 'usage':
        yield delta;
        break;
      default:
        throw new Error(`No check is defined for ${(delta satisfies never as AnswerDelta).type}.`);
    }
  }

  private async *written(kind: Kind, text: string): AsyncGenerator<AnswerDelta> {
    this.whole[kind].add(text);
    if (this.holdsAll) {
      this.channels[kind].hold(text);
      if (this.channels[kind].heldCharacters > WHOLE_CHARACTERS_MAX) yield* this.finish();
      return;
    }
    const other = kind === 'text' ? 'thought' : 'text';
    yield* said(other, this.channels[other].seam());
    yield* said(kind, this.channels[kind].push(text));
  }

  /** Yields the held text up to the last complete sentence (`seam`), or all of it (`end`). */
  private *release(until: 'seam' | 'end'): Generator<AnswerDelta> {
    if (this.holdsAll) return;
    for (const kind of KINDS) yield* said(kind, this.channels[kind][until]());
  }

  /** Runs the checks of the complete text and then yields the held text. */
  private async *finish(): AsyncGenerator<AnswerDelta> {
    const { guard } = this;
    const shown = { thought: this.channels.thought.end(), text: this.textToEnd() };
    const needs = guard.needs('output');
    if (needs.remote || needs.complete) {
      const { verdict, decisions } = await guard.scan('output', this.whole.text.text, this.scanContext, ['remote', 'complete']);
      if (verdict === 'block') guard.block('output', decisions);
      guard.note(decisions);
    }
    for (const kind of KINDS) yield* said(kind, shown[kind]);
    yield* this.used();
  }

  /** The held text. A structured answer is masked value by value, so that it stays valid JSON. */
  private textToEnd(): string {
    const { schema } = this.context;
    const read = schema && structuredAnswer(this.whole.text.text, schema);
    if (!read || 'problem' in read) return this.channels.text.end();
    this.channels.text.forget();
    return JSON.stringify(this.guard.valueNow('output', JSON.parse(read.answer) as unknown, true, this.guard.enforced));
  }

  private forget(): void {
    this.channels.text.forget();
    this.whole.text = new GrowingText();
  }

  private know(sources: readonly Source[]): void {
    this.documents.push(...sources.map(({ text }) => text));
  }

  private *used(): Generator<AnswerDelta> {
    const usage = this.guard.takeUsage();
    if (usage) yield { type: 'usage', ...usage };
  }

  /** The matches in the arguments were noted when the call was made, and a call appears in several deltas. */
  private maskedCall<Call extends Readonly<Record<string, unknown>>>(record: Call): Call {
    return { ...record, arguments: this.guard.valueNow('output', record['arguments'], true, this.guard.enforced) };
  }

  private maskedFrame(frame: ProgressFrame): ProgressFrame {
    const masked = Object.entries(frame).map(([name, value]) => {
      if (!TEXT_FIELDS.has(name)) return [name, value] as const;
      return [name, this.guard.valueNow<unknown>('output', value, !NAMED_BY_US.has(name))] as const;
    });
    return Object.fromEntries(masked) as ProgressFrame;
  }

  private maskedFailure(error: unknown): unknown {
    if (!(error instanceof ModelFailed)) return error;
    const message = this.guard.valueNow('output', error.message);
    return message === error.message ? error : new ModelFailed(error.failure, message, error.retriable);
  }

  private get scanContext() {
    return { question: this.context.question, documents: this.documents };
  }
}

const said = (type: Kind, text: string): readonly AnswerDelta[] => (text === '' ? [] : [{ type, text }]);

/** The fields of a frame that contain text of models and tools. */
const TEXT_FIELDS = new Set(['data', 'node_title', 'state_delta', 'output', 'error']);

/** Fields whose keys are defined by this service and therefore are not checked. */
const NAMED_BY_US = new Set(['data']);

const textsOf = (frame: ProgressFrame): Readonly<Record<string, unknown>> =>
  Object.fromEntries(Object.entries(frame).filter(([name]) => TEXT_FIELDS.has(name)));
