import type OpenAI from 'openai';
import type { ModelChunk, ModelToolCall } from '../model/language-model.port.js';
import { kindOf, modelFailed } from './openai-failures.js';

/** A delta as endpoints send it, with fields that OpenAI's types do not declare. */
type Delta = Partial<OpenAI.Chat.Completions.ChatCompletionChunk.Choice.Delta> & {
  reasoning_content?: string | null;
  reasoning?: string | null;
};
type Frame = {
  choices?: { delta?: Delta | null; message?: Delta | null; finish_reason?: string | null }[] | null;
  usage?: { prompt_tokens?: unknown; completion_tokens?: unknown } | null;
  error?: unknown;
};

type CallDelta = NonNullable<Delta['tool_calls']>[number];

const FINISH_REASONS: Readonly<Record<string, Extract<ModelChunk, { type: 'finish' }>['reason']>> = {
  length: 'length',
  tool_calls: 'tool-calls',
  function_call: 'tool-calls',
  content_filter: 'content-filter',
};

/** Larger token counts are treated as errors of the endpoint and capped, so that read models can store sums of them. */
const TOKENS_MAX = 1_000_000_000;

const tokensIn = (stated: unknown): number =>
  typeof stated === 'number' && stated > 0 ? Math.min(Math.round(stated), TOKENS_MAX) : 0;

/**
 * A tool call assembled from its deltas. Some gateways repeat the complete call after its deltas, or after an empty placeholder.
 */
class CallPieces {
  private id = '';
  private name = '';
  private arguments = '';
  /** The complete arguments before a repetition began; used if the repetition is broken. */
  private whole: string | undefined;

  add({ id, function: stated }: CallDelta): void {
    this.id ||= id ?? '';
    const { name } = stated ?? {};
    const piece = stated?.arguments ?? '';
    if (name && name !== this.name) this.name += name;
    if (beginsObject(piece) && isObjectText(this.arguments)) {
      this.whole = this.arguments;
      this.arguments = piece;
    } else this.arguments += piece;
  }

  get call(): ModelToolCall {
    const { id, name } = this;
    const isBroken = this.whole !== undefined && !isObjectText(this.arguments);
    return { id, name, arguments: isBroken ? this.whole! : this.arguments };
  }
}

const beginsObject = (text: string): boolean => text.trimStart().startsWith('{');

function isObjectText(text: string): boolean {
  if (!beginsObject(text) || !text.trimEnd().endsWith('}')) return false;
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** Turns the frames of one completion into chunks: text and thoughts at once, tool calls, usage and finish at the end. */
export class CompletionReader {
  private readonly calls: CallPieces[] = [];
  private usage: Extract<ModelChunk, { type: 'usage' }> | undefined;
  private finished: string | undefined;

  /** @param text the text after `data:` @throws ModelFailed */
  read(text: string): readonly ModelChunk[] {
    if (text === '[DONE]') {
      this.finished ??= 'stop';
      return [];
    }
    const { choices, usage, error } = parse(text);
    if (error) throw this.reported(error);
    if (usage) {
      this.usage = {
        type: 'usage',
        promptTokens: tokensIn(usage.prompt_tokens),
        completionTokens: tokensIn(usage.completion_tokens),
      };
    }
    const choice = choices?.[0];
    if (choice?.finish_reason) this.finished = choice.finish_reason;
    const delta = choice?.delta ?? choice?.message;
    return delta ? this.readDelta(delta) : [];
  }

  /** The chunks that are known only at the end. @throws ModelFailed if the completion ended without a finish reason */
  end(): readonly ModelChunk[] {
    if (this.finished === undefined) throw modelFailed('bad-reply', new Error('The completion ended without a finish reason.'));
    const calls = this.calls.map(({ call }): ModelChunk => ({ type: 'tool-call', ...call }));
    const reason = FINISH_REASONS[this.finished] ?? (calls.length > 0 ? 'tool-calls' : 'stop');
    return [...calls, ...(this.usage ? [this.usage] : []), { type: 'finish', reason }];
  }

  private readDelta(delta: Delta): ModelChunk[] {
    const chunks: ModelChunk[] = [];
    const thought = delta.reasoning_content ?? delta.reasoning;
    if (typeof thought === 'string' && thought) chunks.push({ type: 'thought', text: thought });
    const text = delta.content ?? delta.refusal;
    if (typeof text === 'string' && text) chunks.push({ type: 'text', text });
    delta.tool_calls?.forEach((part, place) => {
      (this.calls[part.index ?? place] ??= new CallPieces()).add(part);
    });
    return chunks;
  }

  private reported(error: unknown) {
    const { code, status, type, message } = (typeof error === 'object' ? error : { message: error }) as Record<string, unknown>;
    const number = [status, code].find((each) => typeof each === 'number' && each >= 400);
    return modelFailed(
      kindOf(number as number | undefined, [code, type, message].map(String).join(' ')),
      new Error(JSON.stringify(error)),
    );
  }
}

function parse(text: string): Frame {
  try {
    const frame: unknown = JSON.parse(text);
    if (typeof frame === 'object' && frame !== null) return frame;
  } catch {
    // Invalid JSON gets the same error as JSON that is not an object, below.
  }
  throw modelFailed('bad-reply', new Error(`Not a frame of a completion: ${text.slice(0, 200)}`));
}
