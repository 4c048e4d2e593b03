import type { AnswerParts, Source, StoppedByGuardrail, Usage } from '../../conversation/conversation.events.js';
import { type Frame, GUARDRAIL } from '../../journal/message.events.js';
import { cutText } from '../../../kernel/cut-text.js';
import { GrowingText } from '../../../kernel/growing-text.js';
import { isWaiting, type ToolCallRecord, withToolCalls } from '../../conversation/tool-call.policy.js';
import type { GuardrailBlock } from '../loop/guardrail-block.js';
import type { AnswerDelta } from '../loop/answer-delta.js';
import { type CallHistory, interruptedCalls } from '../loop/call-ends.policy.js';
import type { Journal } from '../../journal/journal.js';
import { SOURCES_BYTES_MAX } from '../loop/messages.policy.js';
import { structuredAnswer } from '../loop/structured-answer.policy.js';
import { INTERRUPTED_TEXT } from './turn-closer.js';

/**
 * Maximum size of an answer with its thoughts as JSON, because they are stored in one event. A longer answer ends with an error.
 */
export const ANSWER_BYTES_MAX = 256 * 1024;

/** A failure as the user sees it. */
export type UserError = Readonly<{ text: string; code: string | null; guardrail?: StoppedByGuardrail }>;

/** The error of an answer that a guardrail has stopped: the user sees the block message. */
export const userErrorOf = ({ message, stopped }: GuardrailBlock): UserError => ({
  text: message,
  code: GUARDRAIL,
  guardrail: stopped,
});

const TOO_LONG: UserError = { text: 'The answer became too long and was cut off.', code: 'answer_too_long' };

/** A failure whose text is meant for users. Frames write its code with underscores instead of hyphens. */
export const userError = (text: string, code: string): UserError => ({ text, code: code.replaceAll('-', '_') });

/** The answer composed so far, to which a run adds. */
export type Progress = Readonly<{ parts: AnswerParts; usage: Usage | null }>;

type Schema = Readonly<Record<string, unknown>>;

const bytesOf = (text: string): number => Buffer.byteLength(JSON.stringify(text));

/** Of a text that has more than `bytesMax` bytes as JSON, the longest beginning that has not. */
function beginningOf(text: string, bytesMax: number): string {
  // Each UTF-16 unit takes at least one byte.
  let [fits, tooLong] = [0, Math.min(text.length, Math.max(bytesMax, 0) + 1)];
  while (tooLong - fits > 1) {
    const middle = Math.floor((fits + tooLong) / 2);
    if (bytesOf(text.slice(0, middle)) <= bytesMax) fits = middle;
    else tooLong = middle;
  }
  return cutText(text, fits);
}

/** Journals an answer while it is composed, and holds the parts composed so far. */
export class AnswerWriter {
  private readonly texts: Record<'answer' | 'thought', GrowingText>;
  private others: Omit<AnswerParts, 'answer' | 'thought'>;
  private usage: Usage | null;
  private bytes: number;
  /** The pause with which the run ends if a client has to decide on its calls. */
  pause: Omit<Extract<AnswerDelta, { type: 'pause' }>, 'type'> | undefined;

  constructor(
    private readonly journal: Pick<Journal, 'write' | 'room' | 'flush'>,
    private readonly schema: Schema | null,
    { parts: { answer, thought, ...others }, usage }: Progress,
  ) {
    this.texts = { answer: new GrowingText(answer), thought: new GrowingText(thought) };
    this.others = others;
    this.usage = usage;
    this.bytes = bytesOf(answer) + bytesOf(thought);
  }

  get progress(): Progress {
    const { answer, thought } = this.texts;
    return { parts: { answer: answer.text, thought: thought.text, ...this.others }, usage: this.usage };
  }

  /**
   * Journals the deltas: first those that are `ready`, then the others as they arrive. Resolves to the error with which the
   * answer ends, if any.
   * @throws the errors of the composer and of the journal
   */
  async write(
    deltas: AsyncIterable<AnswerDelta>,
    signal: AbortSignal,
    ready: readonly AnswerDelta[] = [],
  ): Promise<UserError | undefined> {
    // An answer that is stopped before it begins shows nothing, but its token usage counts.
    const counting = signal.aborted ? ready.filter(({ type }) => type === 'usage') : ready;
    if (!counting.every((delta) => this.add(delta))) return TOO_LONG;
    for await (const delta of deltas) {
      // A stopped answer still shows the results of calls that were running.
      if (signal.aborted && delta.type !== 'tool-call' && delta.type !== 'pause') break;
      if (!this.add(delta)) return TOO_LONG;
      await (delta.type === 'checkpoint' ? this.journal.flush() : this.journal.room());
    }
    if (this.pause) return undefined;
    if (signal.aborted) return { text: INTERRUPTED_TEXT, code: 'interrupted' };
    if (!this.schema) return undefined;
    const read = structuredAnswer(this.texts.answer.text, this.schema);
    if ('problem' in read) {
      return { text: 'The model gave an answer that does not fit the schema of this agent.', code: 'invalid_structured_answer' };
    }
    this.texts.answer = new GrowingText(read.answer);
    return undefined;
  }

  /** Records the calls that are still running or waiting as interrupted, because the turn ends. */
  interruptCalls(calls: CallHistory): void {
    for (const record of interruptedCalls(this.others.toolCalls, calls)) this.noteCall(record);
  }

  /** Writes the frames that follow a complete answer. */
  writeResult(): void {
    const { sources, toolCalls, structured } = this.others;
    this.journal.write({ type: 'source', source: sources });
    this.journal.write({ type: 'tool_calls', tool_calls: toolCalls });
    if (structured)
      this.journal.write({ type: 'structured_answer', answer: this.texts.answer.text, structured: true, schema: this.schema });
  }

  /** False if the answer would become too long. */
  private add(delta: AnswerDelta): boolean {
    switch (delta.type) {
      case 'text':
      case 'thought':
        return this.addText(delta.type, delta.text);
      case 'notice':
        this.journal.write({ type: 'notice', notice: delta.text });
        break;
      case 'sources':
        this.change({ sources: delta.sources });
        break;
      case 'found':
        this.change({ sources: withSources(this.others.sources, delta.sources) });
        break;
      case 'tool-call':
        this.noteCall(delta.record);
        break;
      case 'calls':
        this.change({ toolCalls: withToolCalls(this.others.toolCalls, delta.records) });
        break;
      case 'round-over':
        // A structured answer is one JSON value. Text of earlier rounds, or text that did not fit the schema, is not part of it.
        if (this.others.structured) this.forgetAnswer();
        break;
      case 'usage':
        this.usage = withUsage(this.usage, delta);
        break;
      case 'progress':
        this.journal.write(delta.frame);
        break;
      case 'checkpoint':
        break;
      case 'pause': {
        const { type: _, ...pause } = delta;
        this.pause = pause;
      }
    }
    return true;
  }

  /** Adds the text, or its beginning if not all of it fits. False in that case. */
  private addText(type: 'text' | 'thought', text: string): boolean {
    const room = ANSWER_BYTES_MAX - this.bytes;
    const bytes = bytesOf(text);
    this.bytes += bytes;
    const fits = bytes <= room;
    const shown = fits ? text : beginningOf(text, room);
    if (fits || shown !== '') this.writeText(type, shown);
    return fits;
  }

  private writeText(type: 'text' | 'thought', text: string): void {
    if (type === 'thought') {
      this.texts.thought.add(text);
      this.journal.write({ type: 'thought', thought: text });
      return;
    }
    this.texts.answer.add(text);
    if (!this.others.structured) this.journal.write({ type: 'answer', answer: text });
  }

  private forgetAnswer(): void {
    this.texts.answer = new GrowingText();
    this.bytes = bytesOf(this.texts.thought.text);
  }

  /** Shows the record of a call, unless an earlier run has already shown the same record. */
  private noteCall(record: ToolCallRecord): void {
    const known = this.others.toolCalls.find((call) => call['call_id'] === record.call_id);
    if (known && JSON.stringify(known) === JSON.stringify(record)) return;
    // A call that runs again keeps its earlier record until it has a new result.
    if (known && record.status === 'pending' && !isWaiting(known)) return;
    this.change({ toolCalls: withToolCalls(this.others.toolCalls, [record]) }, { type: 'tool_call', data: record });
  }

  private change(others: Partial<typeof this.others>, frame?: Frame): void {
    this.others = { ...this.others, ...others };
    if (frame) this.journal.write(frame);
  }
}

const withUsage = (known: Usage | null, { promptTokens, completionTokens }: Usage): Usage => ({
  promptTokens: (known?.promptTokens ?? 0) + promptTokens,
  completionTokens: (known?.completionTokens ?? 0) + completionTokens,
});

/** Adds the sources that a tool call found, without duplicates, as many as fit one frame. */
function withSources(known: readonly Source[], found: readonly Source[]): readonly Source[] {
  const all = new Map([...known, ...found].map((source) => [JSON.stringify([source.source, source.title, source.text]), source]));
  let left = SOURCES_BYTES_MAX - '[]'.length;
  return [...all.values()].filter((source) => {
    const bytes = Buffer.byteLength(JSON.stringify(source)) + ','.length;
    if (bytes > left) return false;
    left -= bytes;
    return true;
  });
}
