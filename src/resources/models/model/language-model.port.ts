import { Unavailable } from '../../../kernel/rejection.js';
/** A tool call as the model requested it. `arguments` is the unchecked JSON text that the model wrote. */
export type ModelToolCall = Readonly<{ id: string; name: string; arguments: string }>;

/**
 * A part of a user message: text, or a picture or file as a data URL. `tokens` is the file's estimated size in the context
 * window.
 */
export type MessagePart = Readonly<
  | { type: 'text'; text: string }
  | { type: 'image'; dataUrl: string }
  | { type: 'file'; filename: string; dataUrl: string; tokens: number }
>;

export type ChatMessage =
  | Readonly<{ role: 'system'; content: string }>
  | Readonly<{ role: 'user'; content: string | readonly MessagePart[] }>
  | Readonly<{ role: 'assistant'; content: string; toolCalls?: readonly ModelToolCall[] }>
  | Readonly<{ role: 'tool'; toolCallId: string; content: string }>;

/** A retrieved document. Remote models get it in the messages; the offline model quotes it from here. */
export type ModelDocument = Readonly<{ title: string; text: string; source: string }>;

/** A tool that the model may call. `parameters` is the JSON Schema of its arguments. */
export type ModelTool = Readonly<{ name: string; description: string; parameters: object }>;

/** The caller's sampling parameters. The endpoint's defaults apply to missing ones. */
export type Sampling = Readonly<
  Partial<{
    temperature: number;
    topP: number;
    frequencyPenalty: number;
    presencePenalty: number;
    seed: number;
    stop: string | readonly string[];
    maxTokens: number;
  }>
>;

export type ModelRequest = Readonly<{
  modelId: string;
  /** The user whose custom models may be used. Without it only models of the service may be used. */
  ownerId?: string;
  messages: readonly ChatMessage[];
  /** The user's own words, without the text that the service adds to the last message. */
  question: string;
  documents: readonly ModelDocument[];
  /** The answer must be a JSON value that is valid against this schema. */
  responseSchema?: object;
  maxTokens?: number;
  sampling?: Omit<Sampling, 'maxTokens'>;
  tools?: readonly ModelTool[];
}>;

/**
 * A part of an answer, in the order in which the model sends them. A tool call is one chunk; `usage` and `finish` occur at most
 * once.
 */
export type ModelChunk =
  | Readonly<{ type: 'text'; text: string }>
  | Readonly<{ type: 'thought'; text: string }>
  | Readonly<{ type: 'tool-call' } & ModelToolCall>
  | Readonly<{ type: 'usage'; promptTokens: number; completionTokens: number }>
  | Readonly<{ type: 'finish'; reason: 'stop' | 'length' | 'tool-calls' | 'content-filter' }>;

export type ModelDescription = Readonly<{
  id: string;
  provider: string;
  displayName: string;
  description: string;
  /** MIME types of attachments that the model reads itself. */
  attachmentTypes: readonly string[];
  tools: boolean;
  structuredOutput: boolean;
  streaming: boolean;
  /** Maximum number of tokens of question and answer together. */
  contextWindow: number;
  reasoningEffort: string | null;
  /** A custom model, which only its owner can use. */
  isCustom?: true;
  baseUrl?: string;
}>;

export type ModelFailure =
  | 'unavailable'
  | 'not-reachable'
  | 'timed-out'
  | 'overloaded'
  | 'not-authorised'
  | 'unknown-model'
  | 'context-too-long'
  | 'refused'
  | 'not-accepted'
  | 'bad-reply';

/**
 * The model gave no complete answer. The message is shown to the user and contains no keys, addresses or stack traces; `cause`
 * may.
 */
export class ModelFailed extends Unavailable {
  override readonly name = 'ModelFailed';
  constructor(
    readonly failure: ModelFailure,
    message: string,
    /** Whether the same request may succeed later. */
    readonly retriable: boolean,
    options?: { cause?: unknown },
  ) {
    super(message, options);
  }
}

/** The language models that this service can use. */
export abstract class LanguageModels {
  /**
   * Streams one answer. When the signal aborts, the iteration ends soon and without an error, so callers check `signal.aborted`.
   * @throws ModelFailed
   */
  abstract stream(request: ModelRequest, signal: AbortSignal): AsyncIterable<ModelChunk>;
  /** The models of the service, followed by the enabled custom models of the user. */
  abstract list(ownerId?: string): Promise<readonly ModelDescription[]>;
  abstract defaultModelId(): Promise<string>;
  /** Whether the user may use a model. Custom models of other users are never available. */
  abstract has(id: string, ownerId?: string): Promise<boolean>;

  async describe(id: string, ownerId?: string): Promise<ModelDescription | undefined> {
    return (await this.list(ownerId)).find((model) => model.id === id);
  }
}
