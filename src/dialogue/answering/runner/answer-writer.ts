import type { AnswerParts, PendingCall, Source, StoppedByGuardrail, Usage } from '../../conversation/conversation.events.js';
import { type Frame, GUARDRAIL } from '../../journal/message.events.js';
import { isWaiting, type ToolCallRecord, withToolCalls } from '../../conversation/tool-call.policy.js';
import type { GuardrailBlock } from '../loop/guardrail-block.js';
import type { AnswerDelta } from '../loop/answer-delta.js';
import { type CallHistory, interruptedCalls } from '../loop/call-ends.policy.js';
import type { Journal } from '../../journal/journal.js';
import { SOURCES_BYTES_MAX } from '../loop/messages.policy.js';
import { structuredAnswer } from '../loop/structured-answer.policy.js';
import { INTERRUPTED_TEXT } from './turn-closer.js';

/** An answer and its thoughts together, as JSON: they have to fit one event. A model that writes more is cut off with an error. */
export const ANSWER_BYTES_MAX = 256 * 1024;

/** How a failure is shown to a user. */
export type UserError = Readonly<{ text: string; code: string | null; guardrail?: StoppedByGuardrail }>;

/** A guardrail has stopped the answer: its reader is shown the block message. */
export const userErrorOf = ({ message, stopped }: GuardrailBlock): UserError => ({
  text: message,
  code: GUARDRAIL,
  guardrail: stopped,
});

const TOO_LONG: UserError = { text: 'The answer became too long and was cut off.', code: 'answer_too_long' };

/** A failure whose text is meant for users, with its code as frames spell codes. */
export const userError = (text: string, code: string): UserError => ({ text, code: code.replaceAll('-', '_') });

/** How far an answer has come: where a run begins, and what it adds to. */
export type Progress = Readonly<{ parts: AnswerParts; usage: Usage | null }>;

type Schema = Readonly<Record<string, unknown>>;

const bytesOf = (text: string): number => Buffer.byteLength(JSON.stringify(text));

/** Journals an answer as it is composed, and knows what it adds up to. */
export class AnswerWriter {
  private parts: AnswerParts;
  private usage: Usage | null;
  private bytes: number;
  /** Where the run ends for now, when its calls have to be decided on. */
  pause: Readonly<{ calls: readonly PendingCall[]; continuation: string }> | undefined;

  constructor(
    private readonly journal: Pick<Journal, 'write' | 'room' | 'flush'>,
    private readonly schema: Schema | null,
    start: Progress,
  ) {
    ({ parts: this.parts, usage: this.usage } = start);
    this.bytes = bytesOf(this.parts.answer) + bytesOf(this.parts.thought);
  }

  get progress(): Progress {
    return { parts: this.parts, usage: this.usage };
  }

  /**
   * Journals the deltas, those that are `ready` at once and the others as they come; resolves to what went wrong, if anything did.
   * @throws what the composer and the journal throw
   */
  async write(
    deltas: AsyncIterable<AnswerDelta>,
    signal: AbortSignal,
    ready: readonly AnswerDelta[] = [],
  ): Promise<UserError | undefined> {
    // Of an answer that is not to begin any more only what was used for it counts.
    const counting = signal.aborted ? ready.filter(({ type }) => type === 'usage') : ready;
    if (!counting.every((delta) => this.add(delta))) return TOO_LONG;
    for await (const delta of deltas) {
      // The end of a call that was under way is shown also for an answer that is stopped.
      if (signal.aborted && delta.type !== 'tool-call' && delta.type !== 'pause') break;
      if (!this.add(delta)) return TOO_LONG;
      await (delta.type === 'checkpoint' ? this.journal.flush() : this.journal.room());
    }
    if (this.pause) return undefined;
    if (signal.aborted) return { text: INTERRUPTED_TEXT, code: 'interrupted' };
    if (!this.schema) return undefined;
    const read = structuredAnswer(this.parts.answer, this.schema);
    if ('problem' in read) {
      return { text: 'The model gave an answer that does not fit the schema of this agent.', code: 'invalid_structured_answer' };
    }
    this.change(read);
    return undefined;
  }

  /** Says of calls that are under way, or wait, what has become of them now that the turn ends. */
  interruptCalls(calls: CallHistory): void {
    for (const record of interruptedCalls(this.parts.toolCalls, calls)) this.noteCall(record);
  }

  /** What follows an answer that came to its end. */
  writeResult(): void {
    const { sources, toolCalls, structured, answer } = this.parts;
    this.journal.write({ type: 'source', source: sources });
    this.journal.write({ type: 'tool_calls', tool_calls: toolCalls });
    if (structured) this.journal.write({ type: 'structured_answer', answer, structured: true, schema: this.schema });
  }

  /** False when there is no room for it. */
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
        this.change({ sources: withSources(this.parts.sources, delta.sources) });
        break;
      case 'tool-call':
        this.noteCall(delta.record);
        break;
      case 'calls':
        this.change({ toolCalls: withToolCalls(this.parts.toolCalls, delta.records) });
        break;
      case 'round-over':
        // A structured answer is one JSON value: what was said on the way to it, or did not fit, is not part of it.
        if (this.parts.structured) this.forgetAnswer();
        break;
      case 'usage':
        this.usage = withUsage(this.usage, delta);
        break;
      case 'progress':
        this.journal.write(delta.frame);
        break;
      case 'checkpoint':
        break;
      case 'pause':
        this.pause = { calls: delta.calls, continuation: delta.continuation };
    }
    return true;
  }

  private addText(type: 'text' | 'thought', text: string): boolean {
    this.bytes += bytesOf(text);
    if (this.bytes > ANSWER_BYTES_MAX) return false;
    const { answer, thought, structured } = this.parts;
    if (type === 'thought') this.change({ thought: thought + text }, { type: 'thought', thought: text });
    else if (structured) this.change({ answer: answer + text });
    else this.change({ answer: answer + text }, { type: 'answer', answer: text });
    return true;
  }

  private forgetAnswer(): void {
    this.change({ answer: '' });
    this.bytes = bytesOf(this.parts.thought);
  }

  /** What an earlier run has shown of a call in the very same words is not shown again. */
  private noteCall(record: ToolCallRecord): void {
    const known = this.parts.toolCalls.find((call) => call['call_id'] === record.call_id);
    if (known && JSON.stringify(known) === JSON.stringify(record)) return;
    // A call that was begun again stays what it was until it has another end.
    if (known && record.status === 'pending' && !isWaiting(known)) return;
    this.change({ toolCalls: withToolCalls(this.parts.toolCalls, [record]) }, { type: 'tool_call', data: record });
  }

  private change(parts: Partial<AnswerParts>, frame?: Frame): void {
    this.parts = { ...this.parts, ...parts };
    if (frame) this.journal.write(frame);
  }
}

const withUsage = (known: Usage | null, { promptTokens, completionTokens }: Usage): Usage => ({
  promptTokens: (known?.promptTokens ?? 0) + promptTokens,
  completionTokens: (known?.completionTokens ?? 0) + completionTokens,
});

/** Sources that were found on the way join those of before, each once, as many as fit one frame. */
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
