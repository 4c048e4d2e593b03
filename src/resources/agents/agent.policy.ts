import { Rejection } from '../../kernel/rejection.js';
import { validGuardrails } from '../guardrails/guardrail-config.policy.js';
import type { GuardrailCheck } from '../guardrails/guardrail.policy.js';
import type { AgentConfiguration, AgentPolicy } from './agent.events.js';

export const TITLE_CHARACTERS_MAX = 200;
export const TEXT_CHARACTERS_MAX = 10_000;
/** Maximum number of sources, of tools and of models of one agent. */
export const LIST_ENTRIES_MAX = 200;

const WRITE_ALLOWLIST_ENTRIES_MAX = 200;
const WRITE_ALLOWLIST_ENTRY_CHARACTERS_MAX = 512;
const ALLOWED_ORIGINS_MAX = 100;

/** The configuration of an agent before any field is set. */
export const BLANK_AGENT: AgentConfiguration = {
  name: '',
  slug: '',
  description: '',
  image: null,
  agentType: 'classic',
  promptId: '',
  source: '',
  additionalSources: [],
  chunks: null,
  retriever: '',
  tools: [],
  models: [],
  defaultModelId: '',
  jsonSchema: null,
  config: {},
  tokenLimit: null,
  requestLimit: null,
  allowSystemPromptOverride: false,
  mcpAsk: false,
  folderId: null,
  workflowId: null,
};

/** The labels of the required fields that an agent lacks for being published. */
export function lackingForPublication(configuration: AgentConfiguration): readonly string[] {
  const needed: readonly (readonly [unknown, string])[] =
    configuration.agentType === 'workflow'
      ? [
          [configuration.name, 'Agent name'],
          [configuration.workflowId, 'Workflow'],
        ]
      : [
          [configuration.name, 'Agent name'],
          [configuration.description, 'Agent description'],
          [configuration.agentType, 'Agent type'],
        ];
  return needed.filter(([value]) => !value).map(([, label]) => label);
}

export type LimitChange = Readonly<{ name: 'token' | 'request'; mode: boolean | undefined; limit: number | undefined }>;

/** A use limit after a change: null if its mode is off, undefined if it does not change. @throws Rejection invalid-request */
export function limitAfter(current: number | null, { name, mode, limit }: LimitChange): number | null | undefined {
  if (mode ?? current !== null) {
    const next = limit ?? current;
    if (next) return next;
    throw new Rejection(
      'invalid-request',
      `A ${name} limit greater than 0 must be provided when limited ${name} mode is enabled.`,
    );
  }
  if (limit) throw new Rejection('invalid-request', `A ${name} limit cannot be set when limited ${name} mode is disabled.`);
  return mode === undefined ? undefined : null;
}

const POLICY_KEYS = new Set(['guardrails', 'api_write_allowlist', 'restrict_origins', 'allowed_origins']);

const invalid = (problem: string) => new Rejection('invalid-agent-config', `Invalid config: config.${problem}`);

/** The policy in stored form: list entries are trimmed, sorted and without duplicates. @throws Rejection invalid-agent-config */
export function normalPolicy(
  config: Readonly<Record<string, unknown>>,
  checks: ReadonlySet<GuardrailCheck>,
  current: AgentPolicy = {},
): AgentPolicy {
  const { guardrails, api_write_allowlist: allowlist, restrict_origins: restrict, allowed_origins: origins } = config;
  const unknown = Object.keys(config).find((key) => !POLICY_KEYS.has(key));
  if (unknown !== undefined) throw invalid(`${unknown} is not known.`);
  if (restrict !== undefined && typeof restrict !== 'boolean') throw invalid('restrict_origins must be a boolean.');
  const allowedOrigins = origins === undefined ? undefined : originsIn(origins, current.allowed_origins ?? []);
  if (restrict && !allowedOrigins?.length) throw invalid('allowed_origins must name an origin where restrict_origins is true.');
  return {
    ...(guardrails !== undefined && guardrails !== null && { guardrails: guardrailsIn(guardrails, checks, current.guardrails) }),
    ...(allowlist !== undefined && { api_write_allowlist: writeActionsIn(allowlist) }),
    ...(restrict !== undefined && { restrict_origins: restrict }),
    ...(allowedOrigins && { allowed_origins: allowedOrigins }),
  };
}

/** Accepts the stored guardrails unchanged without validation, because a check that they use may have been switched off since. */
function guardrailsIn(value: unknown, checks: ReadonlySet<GuardrailCheck>, current: AgentPolicy['guardrails']) {
  return current && JSON.stringify(value) === JSON.stringify(current) ? current : validGuardrails(value, checks);
}

const writeActionsIn = (value: unknown) =>
  listOf(value, {
    field: 'api_write_allowlist',
    of: 'texts of the form <tool id>:<action>',
    max: WRITE_ALLOWLIST_ENTRIES_MAX,
    normal: asWriteAction,
  });

/** Accepts origins that are stored already, which an earlier version may have accepted although no page has them. */
const originsIn = (value: unknown, stored: readonly string[]) =>
  listOf(value, {
    field: 'allowed_origins',
    of: 'origins such as https://example.com',
    max: ALLOWED_ORIGINS_MAX,
    normal: (text) => (stored.includes(text) ? text : asOrigin(text)),
  });

type ListRules = Readonly<{ field: string; of: string; max: number; normal: (text: string) => string | undefined }>;

function listOf(value: unknown, { field, of, max, normal }: ListRules): readonly string[] {
  if (!Array.isArray(value)) throw invalid(`${field} must be an array.`);
  const entries = value.map((each: unknown) => {
    const entry = typeof each === 'string' ? normal(each.trim()) : undefined;
    if (entry === undefined) throw invalid(`${field} must hold ${of}.`);
    return entry;
  });
  const distinct = [...new Set(entries)].sort();
  if (distinct.length > max) throw invalid(`${field} must hold at most ${max} entries.`);
  return distinct;
}

/** Parses `<tool id>:<action>` at the first colon, because the names of some tools' actions contain colons. */
function asWriteAction(text: string): string | undefined {
  const parts = /^([^:]+):(.+)$/.exec(text);
  if (!parts || text.length > WRITE_ALLOWLIST_ENTRY_CHARACTERS_MAX) return undefined;
  const [tool, action] = [parts[1]!.trim(), parts[2]!.trim()];
  return tool && action ? `${tool}:${action}` : undefined;
}

function asOrigin(text: string): string | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || !['http:', 'https:'].includes(url.protocol) || url.username || url.password) return undefined;
  // An origin is compared as a whole, so a pattern would match no page.
  if (url.hostname.includes('*')) return undefined;
  return url.pathname !== '/' || url.search || url.hash ? undefined : url.origin;
}

/** The names of agent types that clients send, with the type that each stands for. */
const AGENT_TYPES: ReadonlyMap<string, string> = new Map([
  ['classic', 'classic'],
  ['agentic', 'agentic'],
  ['research', 'research'],
  ['workflow', 'workflow'],
  ['react', 'classic'],
  ['openai', 'classic'],
]);

/** The type that a name stands for. The agent's current type is always accepted. @throws Rejection invalid-request */
export function agentTypeIn(name: string, current: string): string {
  const type = name === current ? current : AGENT_TYPES.get(name);
  if (type !== undefined) return type;
  throw new Rejection('invalid-request', `agent_type must be one of ${[...AGENT_TYPES.keys()].join(', ')}`);
}

/**
 * The part of the wanted changes that an editor of another user's agent may make. The allowed origins, and the write actions
 * that callers may run with the owner's credentials, keep the owner's values.
 * @throws Rejection not-allowed for another folder or workflow, which only the owner may choose
 */
export function changesOfEditor(
  wanted: Partial<AgentConfiguration>,
  { config, folderId, workflowId }: AgentConfiguration,
): Partial<AgentConfiguration> {
  const isOwners = (field: 'folderId' | 'workflowId', current: string | null) =>
    field in wanted && (wanted[field] ?? null) !== current;
  if (isOwners('folderId', folderId) || isOwners('workflowId', workflowId))
    throw new Rejection('not-allowed', "Only the owner can change an agent's folder or workflow");
  if (!wanted.config) return wanted;
  const { guardrails } = wanted.config;
  const { guardrails: _, ...kept } = config;
  return { ...wanted, config: { ...kept, ...(guardrails && { guardrails }) } };
}
