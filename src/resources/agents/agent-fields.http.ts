import { ApiProperty } from '@nestjs/swagger';
import { IsArray, IsBoolean, IsIn, IsISO8601, IsObject, IsOptional, IsString, Max, MaxLength, Min } from 'class-validator';
import { parseBoundedJson } from '../../kernel/bounded-json.js';
import { isId } from '../../kernel/ids.js';
import { Rejection } from '../../kernel/rejection.js';
import { RequestValidation } from '../../platform/http/validation.js';
import { judgesIn, unknownJudge } from '../guardrails/guardrail-config.policy.js';
import type { GuardrailCheck } from '../guardrails/guardrail.policy.js';
import type { LanguageModels } from '../models/model/language-model.port.js';
import { presetOf } from '../prompts/presets.policy.js';
import { CHUNKS_MAX } from '../sources/source/retrieval.policy.js';
import type { AgentConfiguration, AgentStatus } from './agent.events.js';
import {
  agentTypeIn,
  limitAfter,
  LIST_ENTRIES_MAX,
  normalPolicy,
  TEXT_CHARACTERS_MAX,
  TITLE_CHARACTERS_MAX,
} from './agent.policy.js';
import { normalSchema } from '../models/model/response-schema.policy.js';
import { Integer } from '../../platform/http/documented.js';

/** The fields of an agent in a request. A field that is left out does not change. */
export class AgentFields {
  @IsOptional() @IsString() @MaxLength(TITLE_CHARACTERS_MAX) name?: string;
  @IsOptional() @IsString() @MaxLength(TEXT_CHARACTERS_MAX) description?: string;
  @IsOptional() @IsString() @MaxLength(TITLE_CHARACTERS_MAX) agent_type?: string;
  @IsOptional() @IsIn(['draft', 'published'], { message: "Status must be either 'draft' or 'published'" }) status?: AgentStatus;
  @IsOptional() @IsString() source?: string;
  @IsOptional() @IsArray() @IsString({ each: true }) sources?: string[];
  @IsOptional() @Integer() @Min(0) chunks?: number;
  @IsOptional() @IsString() @MaxLength(TITLE_CHARACTERS_MAX) retriever?: string;
  @IsOptional() @IsString() prompt_id?: string;
  @IsOptional() @IsArray() @IsString({ each: true }) tools?: string[];
  @ApiProperty({ type: 'object', additionalProperties: true, nullable: true }) @IsOptional() json_schema?: unknown;
  @IsOptional() @IsArray() @IsString({ each: true }) models?: string[];
  @IsOptional() @IsString() @MaxLength(TITLE_CHARACTERS_MAX) default_model_id?: string;
  @IsOptional() @IsString() folder_id?: string | null;
  @IsOptional() @IsString() workflow?: string | null;
  @IsOptional() @IsBoolean() limited_token_mode?: boolean;
  @IsOptional() @Integer() @Min(0) @Max(Number.MAX_SAFE_INTEGER) token_limit?: number;
  @IsOptional() @IsBoolean() limited_request_mode?: boolean;
  @IsOptional() @Integer() @Min(0) @Max(Number.MAX_SAFE_INTEGER) request_limit?: number;
  @IsOptional() @IsBoolean() allow_system_prompt_override?: boolean;
  /** Lets holders of the agent's key ask it over MCP. */
  @IsOptional() @IsBoolean() mcp_ask?: boolean;
  @IsOptional() @IsObject() config?: Record<string, unknown>;
  @IsOptional() @IsISO8601() expected_updated_at?: string;
}

const JSON_FIELDS = ['tools', 'sources', 'json_schema', 'models', 'config'] as const;
const NUMBERS = ['chunks', 'token_limit', 'request_limit'] as const;
const BOOLEANS = ['limited_token_mode', 'limited_request_mode', 'allow_system_prompt_override', 'mcp_ask'] as const;

/** The fields that null sets. In all other fields, null has the same effect as leaving the field out. */
const NULLABLE: ReadonlySet<string> = new Set(['json_schema', 'folder_id', 'workflow']);

const refused = (text: string) => new Rejection('invalid-request', text);

/** Reads a JSON body, or a form whose values are all strings. @throws Rejection invalid-request */
export async function readAgentFields(body: unknown): Promise<AgentFields> {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) throw refused('Invalid request data');
  const fields: Record<string, unknown> = { ...body };
  for (const field of JSON_FIELDS) fields[field] = parsed(field, fields[field]);
  for (const field of NUMBERS) fields[field] = asNumber(fields[field]);
  for (const field of BOOLEANS) fields[field] = asBoolean(fields[field]);
  fields['workflow'] = unquoted(fields['workflow']);
  const given = Object.fromEntries(
    Object.entries(fields).filter(([field, value]) => value !== undefined && (value !== null || NULLABLE.has(field))),
  );
  return (await new RequestValidation().transform(given, { type: 'body', metatype: AgentFields })) as AgentFields;
}

function parsed(field: string, value: unknown): unknown {
  if (typeof value !== 'string') return value;
  if (value.trim() === '') return field === 'json_schema' ? '' : undefined;
  try {
    return parseBoundedJson(value, field);
  } catch (error) {
    throw error instanceof SyntaxError ? refused(`Invalid JSON format for field: ${field}`) : error;
  }
}

const asNumber = (value: unknown) =>
  value === '' ? undefined : typeof value === 'string' && /^-?\d{1,15}$/.test(value.trim()) ? Number(value) : value;

const asBoolean = (value: unknown) => {
  if (typeof value !== 'string') return value;
  return { true: true, '1': true, false: false, '0': false, '': false }[value.trim().toLowerCase()] ?? value;
};

/** The incumbent's web client sends this id as a JSON string, with quotes. */
const unquoted = (value: unknown) => (typeof value === 'string' ? (/^"(.*)"$/.exec(value.trim())?.[1] ?? value) : value);

const NOT_EMPTY: ReadonlySet<string> = new Set(['name', 'description', 'workflow']);

/** Requires the fields that a new agent of this status and type needs. @throws Rejection invalid-request */
export function refuseIncomplete(fields: AgentFields): void {
  const needed: readonly (keyof AgentFields)[] =
    fields.status === 'draft'
      ? ['name']
      : fields.agent_type === 'workflow'
        ? ['name', 'workflow']
        : ['name', 'description', 'chunks', 'retriever', 'prompt_id'];
  const missing = needed.filter((field) => {
    const value = fields[field];
    return value === undefined || value === null || (NOT_EMPTY.has(field) && value === '');
  });
  if (missing.length > 0) throw refused(`Missing required fields: ${missing.join(', ')}`);
}

/** Converts request fields to changes of the agent's configuration. @throws Rejection if a field is invalid */
export function changesIn(
  fields: AgentFields,
  current: AgentConfiguration,
  checks: ReadonlySet<GuardrailCheck>,
): Partial<AgentConfiguration> {
  const { source, sources, prompt_id: promptId, models, tools, folder_id: folderId, workflow } = fields;
  const { limited_token_mode: limitTokens, limited_request_mode: limitRequests } = fields;
  const changes: { [Field in keyof AgentConfiguration]: AgentConfiguration[Field] | undefined } = {
    name: notEmpty('name', fields.name?.trim()),
    slug: undefined,
    description: fields.description,
    image: undefined,
    agentType: fields.agent_type === undefined ? undefined : agentTypeIn(fields.agent_type, current.agentType),
    source: source === undefined ? undefined : sourceIn(source, 'source'),
    additionalSources: sources && distinct(sources.map((each) => sourceIn(each, 'sources')).filter(Boolean), 'sources'),
    chunks: fields.chunks === undefined ? undefined : Math.min(fields.chunks, CHUNKS_MAX),
    retriever: fields.retriever,
    promptId: promptId === undefined ? undefined : promptIn(promptId),
    tools: tools && distinct(tools, 'tools'),
    models: models && distinct(models, 'models'),
    defaultModelId: fields.default_model_id,
    jsonSchema: fields.json_schema === undefined ? undefined : normalSchema(fields.json_schema),
    config: fields.config && normalPolicy(fields.config, checks, current.config),
    tokenLimit: limitAfter(current.tokenLimit, { name: 'token', mode: limitTokens, limit: fields.token_limit }),
    requestLimit: limitAfter(current.requestLimit, { name: 'request', mode: limitRequests, limit: fields.request_limit }),
    allowSystemPromptOverride: fields.allow_system_prompt_override,
    mcpAsk: fields.mcp_ask,
    folderId: folderId === undefined ? undefined : folderId || null,
    workflowId: workflow === undefined ? undefined : workflow || null,
  };
  return Object.fromEntries(Object.entries(changes).filter(([, value]) => value !== undefined));
}

/**
 * Requires that each model that the agent does not use yet is served or is one of the owner's custom models.
 * @throws Rejection invalid-request, invalid-agent-config
 */
export async function refuseUnknownModels(
  models: LanguageModels,
  changes: Partial<AgentConfiguration>,
  current: AgentConfiguration,
  ownerId: string,
): Promise<void> {
  const { defaultModelId = '', models: modelIds = [] } = changes;
  const named = [
    ...modelIds.filter((id) => !current.models.includes(id)).map((id) => ['models', id] as const),
    ...(defaultModelId === '' || defaultModelId === current.defaultModelId
      ? []
      : [['default_model_id', defaultModelId] as const]),
  ];
  for (const [field, id] of named) {
    if (!(await models.has(id, ownerId))) throw refused(`${field} names no model of this service: ${id}`);
  }
  const known = judgesIn(current.config.guardrails);
  for (const id of judgesIn(changes.config?.guardrails))
    if (!known.includes(id) && !(await models.has(id, ownerId))) throw unknownJudge(id);
}

function notEmpty(field: string, value: string | undefined): string | undefined {
  if (value === '') throw refused(`${field} must not be empty`);
  return value;
}

/** Some clients send `default` when the agent has no source. */
function sourceIn(value: string, field: string): string {
  if (value === '' || value === 'default') return '';
  if (!isId(value)) throw refused(`${field} must contain ids of sources`);
  return value;
}

function promptIn(value: string): string {
  if (value === 'default') return '';
  if (!presetOf(value) && !isId(value)) throw refused('prompt_id must be the id of a prompt');
  return value;
}

function distinct(values: readonly string[], field: string): readonly string[] {
  const entries = [...new Set(values)];
  if (entries.length > LIST_ENTRIES_MAX) throw refused(`${field} must hold at most ${LIST_ENTRIES_MAX} entries`);
  if (entries.some((entry) => entry === '' || entry.length > TITLE_CHARACTERS_MAX))
    throw refused(`${field} contains an entry that is not an id`);
  return entries;
}
