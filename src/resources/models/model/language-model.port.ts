import { Unavailable } from '../../../kernel/rejection.js';
/** A call of a tool as the model asked for it. `arguments` is the JSON text the model wrote, unchecked. */
export type ModelToolCall = Readonly<{ id: string; name: string; arguments: string }>;

/** What a user message may carry besides text: a picture or a file, as a data URL. `tokens` is what a file counts for in the window. */
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

/** Something retrieved for the question. A remote model reads it in the messages; the offline model answers from it. */
export type ModelDocument = Readonly<{ title: string; text: string; source: string }>;

/** A tool the model may ask for. `parameters` is the JSON Schema of its arguments. */
export type ModelTool = Readonly<{ name: string; description: string; parameters: object }>;

/** How a caller has a model sampled; what is missing is up to the model. */
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
  /** Whose own models may answer; without it those of the service alone. */
  ownerId?: string;
  messages: readonly ChatMessage[];
  /** The user's own words, without what the service put around them in the last message. */
  question: string;
  documents: readonly ModelDocument[];
  /** The answer has to be one JSON value that is valid against this schema. */
  responseSchema?: object;
  maxTokens?: number;
  sampling?: Omit<Sampling, 'maxTokens'>;
  tools?: readonly ModelTool[];
}>;

/** A piece of an answer, in the order the model gives them. A tool call comes whole, `usage` and `finish` at most once. */
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
  /** MIME types of attachments the model reads by itself. */
  attachmentTypes: readonly string[];
  tools: boolean;
  structuredOutput: boolean;
  streaming: boolean;
  /** Tokens of question and answer together. */
  contextWindow: number;
  reasoningEffort: string | null;
  /** Added by a user, for whom alone it is there. */
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

/** The model gave no (whole) answer. The message is for the user and tells nothing of keys, addresses or traces; `cause` does. */
export class ModelFailed extends Unavailable {
  override readonly name = 'ModelFailed';
  constructor(
    readonly failure: ModelFailure,
    message: string,
    /** Whether asking the same again later may work. */
    readonly retriable: boolean,
    options?: { cause?: unknown },
  ) {
    super(message, options);
  }
}

/** The language models this service can ask. */
export abstract class LanguageModels {
  /**
   * One answer, as it is written. Aborting the signal ends the iteration soon and without an error: who aborts looks at
   * `signal.aborted`. @throws ModelFailed
   */
  abstract stream(request: ModelRequest, signal: AbortSignal): AsyncIterable<ModelChunk>;
  /** The models of the service, and after them a user's own that are switched on. */
  abstract list(ownerId?: string): Promise<readonly ModelDescription[]>;
  abstract defaultModelId(): Promise<string>;
  /** Whether a model is there for a user: the models of others are not. */
  abstract has(id: string, ownerId?: string): Promise<boolean>;

  async describe(id: string, ownerId?: string): Promise<ModelDescription | undefined> {
    return (await this.list(ownerId)).find((model) => model.id === id);
  }
}
