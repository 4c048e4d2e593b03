import type { AgentRecord } from '../../../projections/agents/agents.queries.js';
import { CHUNKS_DEFAULT } from '../sources/source/retrieval.policy.js';
import { actionsOf, type Grant, grantAllows, ownershipOf } from '../identity/grants.policy.js';
import { imageUrl } from './agent-images.http.js';
import type { Referred, ToolDetail } from './referred-things.js';

/** The `allowed_actions` of the owner of an agent. */
const OWNER_ACTIONS = [
  'delete',
  'edit',
  'edit_policy',
  'export',
  'manage_access_details',
  'manage_schedules',
  'manage_settings',
  'move_folder',
  'pin',
  'publish',
  'share',
  'use',
  'view',
  'view_logs',
] as const;

/** An agent with what a user may see of it. `grant` is what the user may do with another user's agent; undefined for the owner. */
export type ShownAgent = Readonly<{
  agent: AgentRecord;
  grant: Grant | undefined;
  pinned: boolean;
  tools: ReadonlyMap<string, ToolDetail>;
  /** The token of the agent's link. Empty if it has no link, or if the caller may not see tokens. */
  linkToken: string;
  /** The base URL of the service for the caller. */
  baseUrl: string;
}>;

/** The record of an agent in listings. */
export function agentRecord({ agent: { configuration, ...agent }, grant, pinned, tools, linkToken, baseUrl }: ShownAgent) {
  const actions: readonly string[] = grant ? actionsOf('agents', grant) : OWNER_ACTIONS;
  return {
    id: agent.id,
    name: configuration.name,
    slug: configuration.slug,
    description: configuration.description,
    image: imageUrl(baseUrl, agent.id, configuration.image),
    source: configuration.source,
    sources: configuration.additionalSources,
    chunks: String(configuration.chunks ?? CHUNKS_DEFAULT),
    retriever: configuration.retriever,
    prompt_id: configuration.promptId,
    tools: configuration.tools,
    tool_details: configuration.tools.flatMap((id) => tools.get(id) ?? []),
    agent_type: configuration.agentType,
    status: agent.status,
    json_schema: configuration.jsonSchema,
    config: actions.includes('view') ? configuration.config : {},
    limited_token_mode: configuration.tokenLimit !== null,
    token_limit: configuration.tokenLimit,
    limited_request_mode: configuration.requestLimit !== null,
    request_limit: configuration.requestLimit,
    created_at: agent.createdAt.toISOString(),
    updated_at: agent.updatedAt.toISOString(),
    last_used_at: agent.lastUsedAt?.toISOString() ?? null,
    pinned,
    shared: agent.link !== null,
    shared_metadata: agent.link ? { shared_by: agent.link.sharedBy, shared_at: agent.link.sharedAt.toISOString() } : {},
    shared_token: actions.includes('manage_access_details') ? linkToken : '',
    models: configuration.models,
    default_model_id: configuration.defaultModelId,
    // Only the owner sees the owner's folders.
    folder_id: grant ? null : configuration.folderId,
    workflow: configuration.workflowId,
    allow_system_prompt_override: configuration.allowSystemPromptOverride,
    mcp_ask: configuration.mcpAsk,
    ...ownershipOf(grant),
    ...(!grant && { key: agent.key?.masked ?? '' }),
    access: grant?.level ?? 'owner',
    allowed_actions: actions,
  };
}

/** The record of one agent, with the resources that it uses. */
export const agentRecordInFull = (shown: ShownAgent, referred: readonly Referred[]) => ({
  ...agentRecord(shown),
  prompt_name: referred.find(({ type }) => type === 'prompt')?.name ?? (shown.agent.configuration.promptId || 'default'),
  source_details: referred.filter(({ type }) => type === 'source').map(({ id, name }) => ({ id, name: name ?? null })),
  // Only users who may edit the agent see the state of what it uses.
  resource_sponsors: [],
  resource_states: !shown.grant || grantAllows('agents', shown.grant, 'edit') ? referred.map(resourceState) : [],
});

const resourceState = ({ type, id, name, isUsable, ownerCredentialWrites }: Referred) => ({
  key: `${type}:${id}`,
  type,
  id,
  name: name ?? null,
  state: isUsable ? 'active' : 'stopped',
  reason: isUsable ? null : name === undefined ? 'deleted' : 'owner_lost_access',
  sponsor: null,
  contact: null,
  connection: null,
  credential_mode: null,
  account: null,
  owner_credential_writes: ownerCredentialWrites,
  can_confirm: false,
  can_reconnect: false,
});
