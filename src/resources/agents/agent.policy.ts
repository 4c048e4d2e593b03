import { Rejection } from '../../kernel/rejection.js';
import type { AgentConfiguration, AgentPolicy } from './agent.events.js';

export const TITLE_CHARACTERS_MAX = 200;
export const TEXT_CHARACTERS_MAX = 10_000;
/** Of sources, tools and models of one agent. */
export const LIST_ENTRIES_MAX = 200;

const WRITE_ALLOWLIST_ENTRIES_MAX = 200;
const WRITE_ALLOWLIST_ENTRY_CHARACTERS_MAX = 512;
const ALLOWED_ORIGINS_MAX = 100;
const GUARDRAILS_CHARACTERS_MAX = 64 * 1024;

/** An agent of which nothing has been said yet. */
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
  folderId: null,
  workflowId: null,
};

/** What an agent still lacks before anybody may call it. */
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

/** A use limit after a change: none while its mode is off, and a number while it is on. @throws Rejection invalid-request */
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

const invalid = () => new Rejection('invalid-agent-config', 'Invalid config: one or more guardrail controls failed validation.');

/** The policy as it is kept: lists trimmed, sorted and without doubles. @throws Rejection invalid-agent-config */
export function normalPolicy(config: Readonly<Record<string, unknown>>): AgentPolicy {
  const { guardrails, api_write_allowlist: allowlist, restrict_origins: restrict, allowed_origins: origins } = config;
  if (Object.keys(config).some((key) => !POLICY_KEYS.has(key))) throw invalid();
  if (guardrails !== undefined && (!isObject(guardrails) || JSON.stringify(guardrails).length > GUARDRAILS_CHARACTERS_MAX)) {
    throw invalid();
  }
  if (restrict !== undefined && typeof restrict !== 'boolean') throw invalid();
  const allowedOrigins = origins === undefined ? undefined : listOf(origins, ALLOWED_ORIGINS_MAX, asOrigin);
  if (restrict && !allowedOrigins?.length) throw invalid();
  return {
    ...(guardrails !== undefined && { guardrails }),
    ...(allowlist !== undefined && { api_write_allowlist: listOf(allowlist, WRITE_ALLOWLIST_ENTRIES_MAX, asWriteAction) }),
    ...(restrict !== undefined && { restrict_origins: restrict }),
    ...(allowedOrigins && { allowed_origins: allowedOrigins }),
  };
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function listOf(value: unknown, max: number, normal: (text: string) => string): readonly string[] {
  if (!Array.isArray(value)) throw invalid();
  const entries = value.map((each: unknown) => {
    if (typeof each !== 'string') throw invalid();
    return normal(each.trim());
  });
  const distinct = [...new Set(entries)].sort();
  if (distinct.length > max) throw invalid();
  return distinct;
}

/** `<tool id>:<action>`; the first colon separates, since actions of some tools have colons in their names. */
function asWriteAction(text: string): string {
  const parts = /^([^:]+):(.+)$/.exec(text);
  if (!parts || text.length > WRITE_ALLOWLIST_ENTRY_CHARACTERS_MAX) throw invalid();
  const [tool, action] = [parts[1]!.trim(), parts[2]!.trim()];
  if (!tool || !action) throw invalid();
  return `${tool}:${action}`;
}

function asOrigin(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || !['http:', 'https:'].includes(url.protocol) || url.username || url.password) throw invalid();
  if (url.pathname !== '/' || url.search || url.hash) throw invalid();
  return url.origin;
}
