import { ApiProperty } from '@nestjs/swagger';
import { Transform } from 'class-transformer';
import {
  ArrayMaxSize,
  IsArray,
  IsBoolean,
  IsNumber,
  IsObject,
  IsOptional,
  IsString,
  MaxLength,
  Min,
  ValidateIf,
} from 'class-validator';
import { HISTORY_EXCHANGES_MAX, QUESTION_CHARACTERS_MAX, SYSTEM_PROMPT_CHARACTERS_MAX } from './question.policy.js';
import { Integer } from '../../../platform/http/documented.js';

/** Converts numeric text, which web clients send from text fields. Other text is left unchanged and fails validation. */
const numeric = ({ value }: { value: unknown }): unknown =>
  typeof value === 'string' && value.trim() !== '' && Number.isFinite(Number(value)) ? Number(value) : value;

/** Omits null, which web clients send for the default source in their list, because it has no id. */
const named = ({ value }: { value: unknown }): unknown => (Array.isArray(value) ? value.filter((each) => each !== null) : value);

const EXCHANGE = { type: 'object', properties: { prompt: { type: 'string' }, response: { type: 'string' } } } as const;

/** A question to an agent, or (with `tool_actions` and no `question`) the decisions on the pending calls of a paused turn. */
export class QuestionRequest {
  /** The question, of at most 131,072 characters. */
  @IsOptional()
  @IsString()
  @MaxLength(QUESTION_CHARACTERS_MAX)
  question?: string | null;

  /** The agent's key. It has priority over `agent_id` and over the bearer token. */
  @IsOptional()
  @IsString()
  api_key?: string | null;

  @IsOptional()
  @IsString()
  agent_id?: string | null;

  /** The conversation to continue. Without it, or with null, a new one begins. */
  @IsOptional()
  @IsString()
  conversation_id?: string | null;

  /**
   * Earlier exchanges for a new conversation: the JSON text of an array of `{prompt, response}`, or that array, of at most 1,000
   * entries.
   */
  @ApiProperty({
    required: false,
    oneOf: [{ type: 'string' }, { type: 'array', items: EXCHANGE, maxItems: HISTORY_EXCHANGES_MAX }, { type: 'null' }],
  })
  @IsOptional()
  history?: unknown;

  @IsOptional()
  @IsString()
  model_id?: string | null;

  /** `listed` shows the conversation in the owner's sidebar. Any other value keeps it hidden. */
  @ApiProperty({ required: false, type: String, nullable: true })
  @IsOptional()
  visibility?: unknown;

  /** Values for the prompt's template. */
  @IsOptional()
  @IsObject()
  passthrough?: Record<string, unknown> | null;

  /** Ignored when the agent has a prompt. */
  @IsOptional()
  @IsString()
  prompt_id?: string | null;

  /** One source id or several, at most 200 different ones. Ignored when the agent has sources. */
  @ApiProperty({
    required: false,
    oneOf: [{ type: 'string' }, { type: 'array', items: { type: ['string', 'null'] } }, { type: 'null' }],
  })
  @IsOptional()
  @Transform(named)
  @ValidateIf(({ active_docs }: QuestionRequest) => typeof active_docs !== 'string')
  @IsArray()
  @IsString({ each: true })
  active_docs?: string | string[] | null;

  @IsOptional()
  @IsString()
  retriever?: string | null;

  /** Total number of chunks to retrieve, from 0 to 500; the default is 6. Ignored when an agent is selected. */
  @IsOptional()
  @Transform(numeric)
  @IsNumber({}, { message: 'chunks must be a number' })
  chunks?: number | null;

  /** Answers without retrieving documents. Ignored when an agent is selected. */
  @IsOptional()
  @IsBoolean()
  isNoneDoc?: boolean | null;

  /**
   * `/stream` only: ids of attachments whose task has succeeded. An attachment that does not exist or belongs to another user is
   * refused with 404; one that is still being processed, or whose processing failed, with 409.
   */
  @IsOptional()
  @IsArray()
  @IsString({ each: true })
  attachments?: string[] | null;

  /**
   * `/stream` only: the index of an earlier question that this question replaces. It requires `conversation_id`. If that is null,
   * as in a retry of a question that failed before its conversation was known, a new conversation begins. With the
   * `Idempotency-Key` of the question at this index, the question is asked again only if that one failed or was stopped.
   */
  @IsOptional()
  @Transform(numeric)
  @Integer()
  @Min(0)
  index?: number | null;

  /**
   * A workflow that is not saved, sent by its editor to try it out: `{nodes, edges}`; other fields are ignored. It is validated
   * like a saved workflow and answers instead of an agent.
   */
  @IsOptional()
  @IsObject()
  workflow?: Record<string, unknown> | null;

  /** With `workflow`: the saved workflow that is being edited. */
  @IsOptional()
  @IsString()
  workflow_id?: string | null;

  /** Every conversation is stored. `false` has no effect, and the response header `X-Ignored-Parameters` reports that. */
  @IsOptional()
  @IsBoolean()
  persist?: boolean | null;

  /** Refused unless it is empty. Upload pictures and files and name them in `attachments` instead. */
  @IsOptional()
  @IsArray()
  @ArrayMaxSize(0, { message: 'multimodal_content is not taken: upload pictures and files, and name them in attachments' })
  multimodal_content?: unknown[] | null;

  /** Functions of the caller, in the form of OpenAI's API. The model may call them and the caller runs them. */
  @IsOptional()
  @IsArray()
  client_tools?: unknown[] | null;

  /**
   * The system prompt for this question, which replaces the agent's, of at most 65,536 characters. Ignored if no agent answers or
   * if the agent does not set `allow_system_prompt_override`.
   */
  @IsOptional()
  @IsString()
  @MaxLength(SYSTEM_PROMPT_CHARACTERS_MAX)
  system_prompt_override?: string | null;

  /** The JSON Schema that the answer to this question has to fit. It replaces the agent's schema. */
  @IsOptional()
  @IsObject()
  json_schema?: Record<string, unknown> | null;

  /**
   * Sampling parameters of the model: `temperature`, `top_p`, `max_tokens`, `frequency_penalty`, `presence_penalty`, `seed`,
   * `stop`. Research and workflow agents ignore them.
   */
  @IsOptional()
  @IsObject()
  llm_params?: Record<string, unknown> | null;

  /** The decisions on the pending tool calls of a paused turn. */
  @IsOptional()
  @IsArray()
  tool_actions?: unknown[] | null;
}
