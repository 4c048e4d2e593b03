import { type Frame, streamAnswer } from './answer-stream.js';
import type { Api } from './api.js';

type Source = Readonly<{ title: string; text: string; source: string }>;
type ToolCall = Readonly<{ call_id: string; action_name: string; status: string; result?: unknown }>;

export type Query = {
  prompt: string;
  /** Kept over retries of the same prompt. */
  idempotencyKey: string;
  messageId?: string;
  response?: string | undefined;
  thought?: string;
  sources?: readonly Source[];
  toolCalls: readonly ToolCall[];
  error?: string | undefined;
  isOver: boolean;
};

type Stored = Readonly<{
  prompt: string;
  response: string;
  sources: readonly Source[];
  tool_calls: readonly ToolCall[];
  message_id: string;
  status: string;
  metadata?: { error?: string };
}>;
type Tail = Readonly<Pick<Stored, 'status' | 'response' | 'sources' | 'tool_calls'>> & Readonly<{ error?: string | null }>;

const TAIL_POLL_MS = 2_000;

const isTerminal = (status: string): boolean => status === 'complete' || status === 'failed';

/** A conversation as the web client holds it: questions, retries, decisions about tools, and what a reload finds. */
export class Chat {
  conversationId: string | null = null;
  queries: Query[] = [];
  agentId: string | undefined;
  selectedDocs: readonly string[] = [];
  /** The query whose answer is polled. */
  private tailed: Query | undefined;

  constructor(
    private readonly api: Api,
    private readonly changed: () => void,
    private readonly ended: () => void,
  ) {}

  async ask(prompt: string): Promise<void> {
    this.queries.push(newQuery(prompt));
    await this.answer(this.queries.length - 1, {});
  }

  /** Retries the last question in its place, with its key. */
  async retry(): Promise<void> {
    const index = this.queries.length - 1;
    const { prompt, idempotencyKey } = this.queries[index]!;
    this.queries[index] = { ...newQuery(prompt), idempotencyKey };
    await this.answer(index, { index });
  }

  async decide(decision: 'approved' | 'denied', comment?: string): Promise<void> {
    const query = this.queries.at(-1)!;
    const waiting = query.toolCalls.filter(({ status }) => status === 'awaiting_approval');
    const tool_actions = waiting.map(({ call_id }) => ({ call_id, decision, ...(comment && { comment }) }));
    query.isOver = false;
    this.tailed = undefined;
    await this.stream({ conversation_id: this.conversationId, tool_actions }, crypto.randomUUID(), query);
  }

  /** Loads the conversation as it is stored. A running answer is polled. */
  async load(id: string): Promise<void> {
    const response = await this.api.get(`/api/get_single_conversation?id=${id}`);
    if (!response.ok) return;
    const { queries } = (await response.json()) as { queries: readonly Stored[] };
    this.conversationId = id;
    this.queries = queries.map(queryOf);
    this.changed();
    const last = this.queries.at(-1);
    this.tailed = last?.isOver ? undefined : last;
    if (this.tailed) await this.tail(this.tailed);
  }

  private async answer(index: number, place: { index?: number }): Promise<void> {
    const query = this.queries[index]!;
    const docs = this.selectedDocs;
    const body = {
      question: query.prompt,
      conversation_id: this.conversationId,
      prompt_id: 'default',
      chunks: '2',
      isNoneDoc: docs.length === 0,
      ...place,
      ...(this.agentId && { agent_id: this.agentId }),
      save_conversation: true,
      visibility: 'listed',
      ...(docs.length > 0 && { active_docs: docs.length === 1 ? docs[0] : docs, retriever: 'classic' }),
    };
    await this.stream(body, query.idempotencyKey, query);
  }

  private async stream(body: object, key: string, query: Query): Promise<void> {
    this.changed();
    try {
      await streamAnswer(this.api, body, key, (frame) => {
        this.take(frame, query);
        this.changed();
      });
    } catch {
      query.error = 'The question did not arrive.';
    }
    query.isOver = true;
    this.changed();
    this.ended();
  }

  private take(frame: Frame, query: Query): void {
    switch (frame.type) {
      case 'message_id':
        query.messageId = frame['message_id'] as string;
        this.conversationId ??= frame['conversation_id'] as string | null;
        return;
      case 'id':
        this.conversationId ??= frame['id'] as string;
        return;
      case 'source':
        query.sources = frame['source'] as readonly Source[];
        return;
      case 'thought':
        query.thought = (query.thought ?? '') + (frame['thought'] as string);
        return;
      case 'tool_call':
        query.toolCalls = withCall(query.toolCalls, frame['data'] as ToolCall);
        return;
      case 'guardrail':
        if ((frame as { retract?: boolean }).retract) query.response = undefined;
        return;
      case 'error':
        query.error = frame['error'] as string;
        return;
      case 'tool_calls_pending':
      case 'notice':
      case 'end':
        return;
      default:
        // An unknown frame is treated as part of the answer if it has one.
        if (frame['answer'] !== undefined) query.response = (query.response ?? '') + (frame['answer'] as string);
    }
  }

  private async tail(query: Query): Promise<void> {
    while (this.tailed === query) {
      const response = await this.api.get(`/api/messages/${query.messageId}/tail`).catch(() => undefined);
      if (response?.status === 404) return;
      const tail = response?.ok ? ((await response.json()) as Tail) : undefined;
      if (tail && this.tailed === query) {
        query.response = tail.response;
        query.sources = tail.sources;
        query.toolCalls = tail.tool_calls;
        query.error = tail.status === 'failed' ? (tail.error ?? 'Failed') : undefined;
        query.isOver = isTerminal(tail.status);
        this.changed();
        if (query.isOver) return;
      }
      await new Promise((resolve) => setTimeout(resolve, TAIL_POLL_MS));
    }
  }
}

const newQuery = (prompt: string): Query => ({ prompt, idempotencyKey: crypto.randomUUID(), toolCalls: [], isOver: false });

/** Only a complete answer is shown. The placeholder of an incomplete one is not its text. */
const queryOf = ({ prompt, response, sources, tool_calls, message_id, status, metadata }: Stored): Query => ({
  ...newQuery(prompt),
  messageId: message_id,
  sources,
  toolCalls: tool_calls,
  isOver: isTerminal(status),
  ...(status === 'complete' && { response }),
  ...(status === 'failed' && { error: metadata?.error ?? 'Failed' }),
});

const withCall = (calls: readonly ToolCall[], call: ToolCall): readonly ToolCall[] =>
  calls.some(({ call_id }) => call_id === call.call_id)
    ? calls.map((each) => (each.call_id === call.call_id ? { ...each, ...call } : each))
    : [...calls, call];
