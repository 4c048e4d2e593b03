import { Transform } from 'class-transformer';
import {
  ArrayMaxSize,
  IsArray,
  IsBoolean,
  IsInt,
  IsNumber,
  IsObject,
  IsOptional,
  IsString,
  MaxLength,
  Min,
  ValidateIf,
} from 'class-validator';
import { QUESTION_CHARACTERS_MAX, SYSTEM_PROMPT_CHARACTERS_MAX } from './question.policy.js';

/** Web clients send numbers from text fields; anything that is not a number stays what it is and is refused. */
const numeric = ({ value }: { value: unknown }): unknown =>
  typeof value === 'string' && value.trim() !== '' && Number.isFinite(Number(value)) ? Number(value) : value;

/** A question to an agent, or (with `tool_actions` and no `question`) the answer to what a paused turn waits for. */
export class QuestionRequest {
  /** What is asked, in at most 131,072 characters. */
  @IsOptional()
  @IsString()
  @MaxLength(QUESTION_CHARACTERS_MAX)
  question?: string | null;

  /** The agent's key; it goes before `agent_id` and before the bearer token. */
  @IsOptional()
  @IsString()
  api_key?: string | null;

  @IsOptional()
  @IsString()
  agent_id?: string | null;

  /** Continues a conversation; without it, or with null, a new one begins. */
  @IsOptional()
  @IsString()
  conversation_id?: string | null;

  /** JSON text of an array of `{prompt, response}`, or that array, with at most 1,000 entries; only for new conversations. */
  @IsOptional()
  history?: unknown;

  @IsOptional()
  @IsString()
  model_id?: string | null;

  /** `listed` shows the conversation in the owner's sidebar; anything else keeps it hidden. */
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

  /** A source id or several; ignored when the agent has sources. */
  @IsOptional()
  @ValidateIf(({ active_docs }: QuestionRequest) => typeof active_docs !== 'string')
  @IsArray()
  @IsString({ each: true })
  active_docs?: string | string[] | null;

  @IsOptional()
  @IsString()
  retriever?: string | null;

  /** How many chunks to retrieve in all: 6 unless told, at least 0, at most 500; ignored when an agent is selected. */
  @IsOptional()
  @Transform(numeric)
  @IsNumber({}, { message: 'chunks must be a number' })
  chunks?: number | null;

  /** Answers without retrieving anything; only where no agent answers, which has sources of its own. */
  @IsOptional()
  @IsBoolean()
  isNoneDoc?: boolean | null;

  /**
   * `/stream` only: ids of attachments whose task has succeeded. Somebody else's is as unknown as one that is not there (404); one
   * that is still being read, or could not be, is a conflict (409).
   */
  @IsOptional()
  @IsArray()
  @IsString({ each: true })
  attachments?: string[] | null;

  /**
   * `/stream` only: the place of an earlier question that this one takes. It needs `conversation_id`; with null, as for a retry of
   * a question that failed before its conversation was known, it begins a new conversation. With the `Idempotency-Key` of the
   * question that has this place, it asks anew only if that one failed or was stopped.
   */
  @IsOptional()
  @Transform(numeric)
  @IsInt()
  @Min(0)
  index?: number | null;

  /**
   * A workflow that is not saved, as its editor tries it out: `{nodes, edges}`, and whatever else. It is checked like one that is
   * saved, and answers instead of an agent.
   */
  @IsOptional()
  @IsObject()
  workflow?: Record<string, unknown> | null;

  /** With `workflow`: the saved workflow that is being edited. */
  @IsOptional()
  @IsString()
  workflow_id?: string | null;

  /** Every conversation is kept: `false` has no effect, and the header `X-Ignored-Parameters` says so. */
  @IsOptional()
  @IsBoolean()
  persist?: boolean | null;

  /** Refused unless it is empty: pictures and files are uploaded, and named in `attachments`. */
  @IsOptional()
  @IsArray()
  @ArrayMaxSize(0, { message: 'multimodal_content is not taken: upload pictures and files, and name them in attachments' })
  multimodal_content?: unknown[] | null;

  /** Functions of the caller, in the form of OpenAI's API: the model may call them, the caller runs them. */
  @IsOptional()
  @IsArray()
  client_tools?: unknown[] | null;

  /**
   * The system prompt for this question, in the place of the agent's, in at most 65,536 characters. Ignored where no agent answers, and
   * where the agent does not say `allow_system_prompt_override`.
   */
  @IsOptional()
  @IsString()
  @MaxLength(SYSTEM_PROMPT_CHARACTERS_MAX)
  system_prompt_override?: string | null;

  /** The JSON Schema that the answer to this question has to fit, in the place of the agent's. */
  @IsOptional()
  @IsObject()
  json_schema?: Record<string, unknown> | null;

  /**
   * How the model is sampled: `temperature`, `top_p`, `max_tokens`, `frequency_penalty`, `presence_penalty`, `seed`, `stop`. Agents that
   * do research or run a workflow sample as they are made.
   */
  @IsOptional()
  @IsObject()
  llm_params?: Record<string, unknown> | null;

  /** What was decided about the pending tool calls of a paused turn. */
  @IsOptional()
  @IsArray()
  tool_actions?: unknown[] | null;
}
