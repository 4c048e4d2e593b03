import type { Usage } from '../../../dialogue/conversation/conversation.events.js';
import {
  CUT_OFF_NOTICE,
  FILTERED_NOTICE,
  type Frame,
  GUARDRAIL,
  type PendingToolCall,
  STOPPED,
} from '../../../dialogue/journal/message.events.js';
import { type Message, noMessage, withFrame } from '../../../dialogue/journal/message.policy.js';
import { toolCallId } from '../asking/call-id.policy.js';
import {
  type ItemStatus,
  type OutputItem,
  type OutputPart as Part,
  responseObject,
  type ResponseHead,
  type ResponseState,
} from './response-object.policy.js';

/** An event of a response. Its fields are in the order in which they are sent. */
export type TranslatedEvent = Readonly<{ type: string; sequence_number: number } & Record<string, unknown>>;

/** How the run of a response ended. */
export type ResponseEnding = Readonly<
  | { kind: 'completed' }
  | { kind: 'failed'; text: string; code: string | null }
  | { kind: 'cancelled' }
  | { kind: 'blocked' }
  | { kind: 'cut-off' }
>;

/** The usage and the time of a run that has ended. */
export type KnownEnd = Readonly<{ usage: Usage | undefined; completedAt: number }>;

type Untold = Readonly<{ type: string } & Record<string, unknown>>;

/**
 * Version 1 of the translation of a journal into the events of a response. The events depend only on the head and the frames, so
 * all readers get the same events at any time. Once it is in use, its output must not change. A change needs a new version beside
 * it.
 */
export class ResponseTranslator {
  ending: ResponseEnding | undefined;
  private output: readonly OutputItem[] = [];
  private isOpen = false;
  private hasBegun = false;
  private said = '';
  private next = 0;
  private message: Message = noMessage;

  constructor(private readonly head: ResponseHead) {}

  /** The events before the first frame. */
  opening(): readonly TranslatedEvent[] {
    const { background } = this.head.echo;
    const response = this.response({ status: background ? 'queued' : 'in_progress' });
    return this.numbered([
      { type: 'response.created', response },
      ...(background ? [{ type: 'response.queued', response }] : []),
    ]);
  }

  /** The events that a frame adds, without the last event of the response, which `closing` returns. */
  add(id: number, frame: Frame): readonly TranslatedEvent[] {
    this.message = withFrame(this.message, frame);
    const begins = this.hasBegun ? [] : [{ type: 'response.in_progress', response: this.response({ status: 'in_progress' }) }];
    this.hasBegun = true;
    return this.numbered([...begins, ...this.eventsOf(id, frame)]);
  }

  closing(end: KnownEnd): readonly TranslatedEvent[] {
    const { kind } = this.ending!;
    const type = kind === 'completed' || kind === 'failed' ? kind : 'incomplete';
    return this.numbered([{ type: `response.${type}`, response: this.atEnd(end) }]);
  }

  /** The response after the frames so far. `end`: given once the run has ended. */
  asOf(end: KnownEnd | undefined): object {
    if (end && this.ending) return this.atEnd(end);
    return this.response({ status: this.hasBegun || !this.head.echo.background ? 'in_progress' : 'queued' });
  }

  /** The calls of the caller's functions with which the run ended. */
  get calls(): readonly Extract<OutputItem, { type: 'function_call' }>[] {
    return this.output.filter((item) => item.type === 'function_call');
  }

  private atEnd({ usage, completedAt }: KnownEnd): object {
    const { ending } = this;
    if (ending?.kind === 'completed') return this.response({ status: 'completed', usage, completedAt });
    if (ending?.kind === 'cancelled') return this.response({ status: 'cancelled', usage });
    if (ending?.kind === 'blocked') return this.response({ status: 'incomplete', reason: 'content_filter', usage });
    if (ending?.kind === 'cut-off') return this.response({ status: 'incomplete', reason: 'max_output_tokens', usage });
    return this.response({ status: 'failed', error: ending!, usage });
  }

  private response(state: ResponseState): object {
    return responseObject(this.head, this.output, this.message, state);
  }

  private numbered(events: readonly Untold[]): readonly TranslatedEvent[] {
    return events.map(({ type, ...rest }) => ({ type, sequence_number: this.next++, ...rest }));
  }

  private eventsOf(id: number, frame: Frame): readonly Untold[] {
    switch (frame.type) {
      case 'thought':
        return this.says(id, 'reasoning', frame.thought);
      case 'answer':
        this.said += frame.answer;
        return this.says(id, 'message', frame.answer);
      case 'structured_answer':
        // An answer with a schema arrives whole at its end.
        return frame.answer.startsWith(this.said) ? this.says(id, 'message', frame.answer.slice(this.said.length)) : [];
      case 'guardrail':
        return frame.retract ? this.retract() : [];
      case 'tool_calls_pending':
        return [
          ...this.shut('completed'),
          ...frame.data.pending_tool_calls.filter(isOfCaller).flatMap((call, at) => this.call(id, at, call)),
        ];
      case 'error':
        return this.afterError(id, frame);
      case 'end':
        this.ending = this.endingWith(this.message);
        return this.shut(this.ending.kind === 'completed' ? 'completed' : 'incomplete');
      default:
        return [];
    }
  }

  private endingWith({ error, notices }: Message): ResponseEnding {
    if (!error && notices.includes(FILTERED_NOTICE)) return { kind: 'blocked' };
    if (!error) return { kind: notices.includes(CUT_OFF_NOTICE) ? 'cut-off' : 'completed' };
    return error.code === GUARDRAIL ? { kind: 'blocked' } : { kind: 'failed', ...error };
  }

  private afterError(id: number, { error, code }: Extract<Frame, { type: 'error' }>): readonly Untold[] {
    if (code === STOPPED) {
      this.ending = { kind: 'cancelled' };
      return this.shut('incomplete');
    }
    if (code !== GUARDRAIL) return [];
    const opened = this.open({
      id: this.itemId('msg', id),
      type: 'message',
      status: 'in_progress',
      role: 'assistant',
      content: [],
    });
    const started = this.begin({ type: 'refusal', refusal: '' });
    return [...opened, ...started, this.grow('refusal', error), ...this.shut('completed')];
  }

  /** Adds text to the open item of this type. If no such item is open, it closes the open item and begins one. */
  private says(id: number, type: 'message' | 'reasoning', text: string): readonly Untold[] {
    if (text === '') return [];
    if (this.isOpen && this.last.type === type) return [this.grow(type, text)];
    const before = this.shut('completed');
    const status = 'in_progress';
    const opened =
      type === 'message'
        ? this.open({ id: this.itemId('msg', id), type, status, role: 'assistant', content: [] })
        : this.open({ id: this.itemId('rs', id), type, status, summary: [], content: [] });
    const part: Part =
      type === 'message'
        ? { type: 'output_text', annotations: [], logprobs: [], text: '' }
        : { type: 'reasoning_text', text: '' };
    return [...before, ...opened, ...this.begin(part), this.grow(type, text)];
  }

  private call(
    id: number,
    at: number,
    { call_id: callId, tool_name: name, arguments: given }: PendingToolCall,
  ): readonly Untold[] {
    const text = JSON.stringify(given);
    const item = {
      id: `${this.itemId('fc', id)}_${at}`,
      type: 'function_call',
      call_id: toolCallId({ conversationId: this.head.conversationId, callId }),
      name,
    } as const;
    const added = this.open({ ...item, status: 'in_progress', arguments: '' });
    const place = { item_id: item.id, output_index: this.index };
    this.change({ ...item, status: 'completed', arguments: text });
    this.isOpen = false;
    return [
      ...added,
      { type: 'response.function_call_arguments.delta', ...place, delta: text },
      { type: 'response.function_call_arguments.done', ...place, name, arguments: text },
      { type: 'response.output_item.done', output_index: this.index, item: this.last },
    ];
  }

  /** Empties all items but function calls. The items stay, so that the indexes of later items do not change. */
  private retract(): readonly Untold[] {
    const shut = this.shut('incomplete');
    this.output = this.output.map((item) =>
      item.type === 'function_call' ? item : { ...item, status: 'incomplete', content: [] },
    );
    return shut;
  }

  private open(item: OutputItem): readonly Untold[] {
    this.output = [...this.output, item];
    this.isOpen = true;
    return [{ type: 'response.output_item.added', output_index: this.index, item }];
  }

  private begin(part: Part): readonly Untold[] {
    this.change({ ...this.last, content: [part] } as OutputItem);
    return [{ type: 'response.content_part.added', ...this.place, part }];
  }

  private grow(type: 'message' | 'reasoning' | 'refusal', delta: string): Untold {
    const part = this.part;
    const grown = part.type === 'refusal' ? { ...part, refusal: part.refusal + delta } : { ...part, text: part.text + delta };
    this.change({ ...this.last, content: [grown] } as OutputItem);
    if (type === 'message') return { type: 'response.output_text.delta', ...this.place, delta, logprobs: [] };
    return { type: type === 'refusal' ? 'response.refusal.delta' : 'response.reasoning_text.delta', ...this.place, delta };
  }

  /** Closes the open item. */
  private shut(status: ItemStatus): readonly Untold[] {
    if (!this.isOpen) return [];
    this.isOpen = false;
    const { part, place } = this;
    this.change({ ...this.last, status });
    return [
      doneOf(part, place),
      { type: 'response.content_part.done', ...place, part },
      { type: 'response.output_item.done', output_index: this.index, item: this.last },
    ];
  }

  private change(item: OutputItem): void {
    this.output = [...this.output.slice(0, -1), item];
  }

  private itemId(prefix: string, frameId: number): string {
    return `${prefix}_${this.head.turnId}_${frameId}`;
  }

  private get index(): number {
    return this.output.length - 1;
  }

  private get last(): OutputItem {
    return this.output.at(-1)!;
  }

  private get part(): Part {
    return (this.last as Readonly<{ content: readonly Part[] }>).content[0]!;
  }

  private get place() {
    return { item_id: this.last.id, output_index: this.index, content_index: 0 };
  }
}

const isOfCaller = (call: PendingToolCall): boolean => call.pause_type === 'requires_client_execution';

function doneOf(part: Part, place: object): Untold {
  if (part.type === 'refusal') return { type: 'response.refusal.done', ...place, refusal: part.refusal };
  if (part.type === 'reasoning_text') return { type: 'response.reasoning_text.done', ...place, text: part.text };
  return { type: 'response.output_text.done', ...place, text: part.text, logprobs: [] };
}
