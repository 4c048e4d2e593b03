import { JSON_LIMITS, JsonMeter } from '../../../kernel/bounded-json.js';
import type { ModelChunk, ModelToolCall } from '../model/language-model.port.js';
import { ObjectText } from './object-text.js';
import { kindOf, modelFailed, reasonIn } from './openai-failures.js';
import { ThinkTags } from './think-tags.js';

/** A delta as endpoints send it. Some send other types than OpenAI declares, and fields that it does not declare. */
type Delta = Readonly<{
  content?: unknown;
  refusal?: unknown;
  reasoning_content?: unknown;
  reasoning?: unknown;
  tool_calls?: readonly CallDelta[] | null;
  function_call?: CallDelta['function'] | null;
}>;
type CallDelta = Readonly<{ index?: number; id?: unknown; function?: Readonly<{ name?: unknown; arguments?: unknown }> | null }>;
type Frame = {
  choices?: { delta?: Delta | null; message?: Delta | null; finish_reason?: string | null }[] | null;
  usage?: { prompt_tokens?: unknown; completion_tokens?: unknown } | null;
  error?: unknown;
  object?: unknown;
};

const FINISH_REASONS: Readonly<Record<string, Extract<ModelChunk, { type: 'finish' }>['reason']>> = {
  length: 'length',
  tool_calls: 'tool-calls',
  function_call: 'tool-calls',
  content_filter: 'content-filter',
};

/** Larger token counts are treated as errors of the endpoint and capped, so that read models can store sums of them. */
const TOKENS_MAX = 1_000_000_000;

/** Maximum number of tool calls of a completion. Further calls are dropped. An agent makes fewer in one round. */
export const COMPLETION_CALLS_MAX = 256;
/**
 * Maximum characters of the arguments of all tool calls of a completion, repetitions included. Parsing them takes up to a quarter
 * of a second. The calls of a turn are recorded with a quarter of this size.
 */
export const COMPLETION_ARGUMENTS_CHARACTERS_MAX = 1024 * 1024;

/** Shorter frames are parsed in a few milliseconds whatever they contain, and are not measured. A delta has a few hundred characters. */
const UNMEASURED_CHARACTERS_MAX = 16 * 1024;
/** A completion that lists the probability or the number of each token has several entries for each of thousands of tokens. */
export const FRAME_ENTRIES_MAX = 100_000;
const FRAME_LIMITS = { ...JSON_LIMITS, entriesMax: FRAME_ENTRIES_MAX, bareBytesMax: 4 * 1024 * 1024 };

const tokensIn = (stated: unknown): number =>
  typeof stated === 'number' && stated > 0 ? Math.min(Math.round(stated), TOKENS_MAX) : 0;

/**
 * A tool call assembled from its deltas. Some gateways repeat the complete call after its deltas, or after an empty placeholder.
 */
class CallPieces {
  private id = '';
  private name = '';
  private arguments = new ObjectText();
  /** The complete arguments before a repetition began; used if the repetition is broken. */
  private whole: string | undefined;

  /**
   * Whether a delta in the same place begins another call: some endpoints send no index or always the same. Others send another
   * id with every delta, but the name only with the first.
   */
  isOver({ id, function: stated }: CallDelta): boolean {
    if (!textIn(stated?.name)) return false;
    if (this.id !== '' && textIn(id)) return id !== this.id;
    return stated!.name !== this.name && this.arguments.isWhole;
  }

  /** @param piece the arguments in the delta */
  add({ id, function: stated }: CallDelta, piece: string): void {
    this.id ||= textIn(id);
    const name = textIn(stated?.name);
    if (name !== this.name) this.name += name;
    if (beginsObject(piece) && this.arguments.isWhole) {
      this.whole = this.arguments.text;
      this.arguments = new ObjectText();
    }
    this.arguments.add(piece);
  }

  get call(): ModelToolCall {
    const { id, name } = this;
    const isBroken = this.whole !== undefined && !this.arguments.isWhole;
    return { id, name, arguments: isBroken ? this.whole! : this.arguments.text };
  }
}

/** The text of a field that is a text, or a list of parts of which some have a text. */
function textIn(content: unknown): string {
  if (typeof content === 'string') return content;
  return Array.isArray(content) ? content.map((part: { text?: unknown } | null) => textIn(part?.text)).join('') : '';
}

const thoughtIn = (content: unknown): string =>
  Array.isArray(content) ? content.map((part: { thinking?: unknown } | null) => textIn(part?.thinking)).join('') : '';

const argumentsIn = (stated: unknown): string =>
  typeof stated === 'object' && stated !== null ? JSON.stringify(stated) : textIn(stated);

/** Joins the deltas of a text so that none ends with half of a surrogate pair. */
class WholeCharacters {
  private half = '';

  read(delta: string): string {
    const text = this.half + delta;
    const end = /[\uD800-\uDBFF]$/.test(text) ? text.length - 1 : text.length;
    this.half = text.slice(end);
    return text.slice(0, end).toWellFormed();
  }
}

const beginsObject = (text: string): boolean => text.trimStart().startsWith('{');

/** Turns the frames of one completion into chunks: text and thoughts at once, tool calls, usage and finish at the end. */
export class CompletionReader {
  private readonly calls: CallPieces[] = [];
  private readonly callsByIndex = new Map<number, CallPieces>();
  private readonly text = new WholeCharacters();
  private readonly thought = new WholeCharacters();
  private readonly thinkTags = new ThinkTags();
  private usage: Extract<ModelChunk, { type: 'usage' }> | undefined;
  private finished: string | undefined;
  private argumentsCharacters = 0;
  /** The number of deltas with a part of the answer. Those of tool calls yield no chunk. */
  deltas = 0;

  get isFinished(): boolean {
    return this.finished !== undefined;
  }

  /** @param text the text after `data:` @throws ModelFailed */
  read(text: string): readonly ModelChunk[] {
    if (text === '[DONE]') {
      this.finished ??= 'stop';
      return [];
    }
    const frame = parse(text);
    const { choices, usage } = frame;
    const error = frame.error ?? (frame.object === 'error' ? frame : undefined);
    if (error) throw this.reported(error);
    if (usage) {
      this.usage = {
        type: 'usage',
        promptTokens: tokensIn(usage.prompt_tokens),
        completionTokens: tokensIn(usage.completion_tokens),
      };
    }
    const choice = choices?.[0];
    const delta = choice?.delta ?? choice?.message;
    const chunks = delta ? this.readDelta(delta) : [];
    // Only after the delta, because a completion with an unreadable delta is not complete.
    if (choice?.finish_reason) this.finished = choice.finish_reason;
    return chunks;
  }

  /** The chunks that are known only at the end. @throws ModelFailed if the completion ended without a finish reason */
  end(): readonly ModelChunk[] {
    if (this.finished === undefined) throw modelFailed('bad-reply', new Error('The completion ended without a finish reason.'));
    const calls = this.calls.map(({ call }): ModelChunk => ({ type: 'tool-call', ...call }));
    const reason = FINISH_REASONS[this.finished] ?? (calls.length > 0 ? 'tool-calls' : 'stop');
    return [...this.thinkTags.end(), ...calls, ...(this.usage ? [this.usage] : []), { type: 'finish', reason }];
  }

  private readDelta(delta: Delta): ModelChunk[] {
    const chunks: ModelChunk[] = [];
    const { content, refusal, reasoning_content: reasoning, tool_calls: calls, function_call: call } = delta;
    const thought = this.thought.read(textIn(reasoning) || textIn(delta.reasoning) || thoughtIn(content));
    if (thought) chunks.push({ type: 'thought', text: thought });
    const text = this.text.read(textIn(content) || textIn(refusal));
    if (text) chunks.push(...this.thinkTags.read(text));
    const parts = calls ?? (call ? [{ function: call }] : []);
    for (const [place, part] of parts.entries()) this.readCall(part, place);
    if (thought || text || parts.length > 0) this.deltas++;
    return chunks;
  }

  private readCall(part: CallDelta, place: number): void {
    const piece = argumentsIn(part.function?.arguments);
    this.argumentsCharacters += piece.length;
    if (this.argumentsCharacters > COMPLETION_ARGUMENTS_CHARACTERS_MAX)
      throw modelFailed(
        'bad-reply',
        new Error(`The arguments of the tool calls are longer than ${COMPLETION_ARGUMENTS_CHARACTERS_MAX} characters.`),
      );
    this.callFor(part, place)?.add(part, piece);
  }

  /** The call that a delta belongs to; undefined if the call is dropped. */
  private callFor(part: CallDelta, place: number): CallPieces | undefined {
    const index = part.index ?? place;
    const known = this.callsByIndex.get(index);
    if (known && !known.isOver(part)) return known;
    // Later deltas in this place belong to the dropped call.
    this.callsByIndex.delete(index);
    if (this.calls.length === COMPLETION_CALLS_MAX) return undefined;
    const call = new CallPieces();
    this.calls.push(call);
    this.callsByIndex.set(index, call);
    return call;
  }

  private reported(error: unknown) {
    const { code, status, type, message } = (typeof error === 'object' ? error : { message: error }) as Record<string, unknown>;
    const number = [status, code].find((each) => typeof each === 'number' && each >= 400);
    return modelFailed(kindOf(number as number | undefined, reasonIn(code, type, message)), new Error(JSON.stringify(error)));
  }
}

function parse(text: string): Frame {
  try {
    if (text.length > UNMEASURED_CHARACTERS_MAX) new JsonMeter('The frame', FRAME_LIMITS).read(Buffer.from(text));
    const frame: unknown = JSON.parse(text);
    if (typeof frame === 'object' && frame !== null) return frame;
  } catch {
    // Invalid JSON and JSON beyond the limits get the same error as JSON that is not an object, below.
  }
  throw modelFailed('bad-reply', new Error(`Not a frame of a completion: ${text.slice(0, 200)}`));
}
