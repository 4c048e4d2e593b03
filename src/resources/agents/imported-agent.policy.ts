import type { AgentConfiguration } from './agent.events.js';

/** An agent as an imported file describes it, with references resolved to ids of this service. The file overrides all fields. */
export type ImportedAgent = Pick<
  AgentConfiguration,
  'name' | 'description' | 'agentType' | 'chunks' | 'promptId' | 'tools' | 'models' | 'defaultModelId' | 'jsonSchema' | 'config'
> &
  Pick<AgentConfiguration, 'tokenLimit' | 'requestLimit' | 'allowSystemPromptOverride'> &
  Partial<Pick<AgentConfiguration, 'mcpAsk' | 'workflowId'>> &
  Readonly<{
    /** Null if the file does not set it. */
    retriever: string | null;
    /** A set. The file does not say which source is the primary one. */
    sources: readonly string[];
    limitsTokens: boolean;
    limitsRequests: boolean;
  }>;

const RETRIEVER_DEFAULT = 'classic';

/** The limits for a file that limits use but does not state how much, if the agent has no limit yet. */
const TOKEN_LIMIT_DEFAULT = 50_000;
const REQUEST_LIMIT_DEFAULT = 500;

/** The fields of an agent after an import. A file does not contain the status, the key, the picture and the folder. */
export function fieldsAfterImport(
  current: AgentConfiguration,
  imported: ImportedAgent,
  slug: string | undefined,
): Partial<AgentConfiguration> {
  const { name, description, agentType, chunks, promptId, tools, models, defaultModelId, jsonSchema, config, workflowId } =
    imported;
  const { allowSystemPromptOverride, mcpAsk, limitsTokens, tokenLimit, limitsRequests, requestLimit } = imported;
  return {
    name,
    ...(slug !== undefined && { slug }),
    description,
    agentType,
    chunks,
    ...retrieverAfter(current, imported),
    promptId,
    tools,
    models,
    defaultModelId,
    ...sourcesAfter(current, imported.sources),
    tokenLimit: limitsTokens ? (tokenLimit ?? current.tokenLimit ?? TOKEN_LIMIT_DEFAULT) : null,
    requestLimit: limitsRequests ? (requestLimit ?? current.requestLimit ?? REQUEST_LIMIT_DEFAULT) : null,
    jsonSchema,
    allowSystemPromptOverride,
    ...(mcpAsk !== undefined && { mcpAsk }),
    config,
    ...(workflowId !== undefined && { workflowId }),
  };
}

/** An export writes the default retriever for an agent that names none, so importing the default does not change that agent. */
function retrieverAfter(
  current: AgentConfiguration,
  { retriever, sources }: ImportedAgent,
): Partial<Pick<AgentConfiguration, 'retriever'>> {
  const wanted = retriever ?? (sources.length === 0 ? RETRIEVER_DEFAULT : undefined);
  const isSame = wanted === undefined || wanted === (current.retriever || RETRIEVER_DEFAULT);
  return isSame ? {} : { retriever: wanted };
}

/** Sources are a set, so another order is not a change. The primary source stays primary unless the file removes it. */
function sourcesAfter(
  { source, additionalSources }: AgentConfiguration,
  wanted: readonly string[],
): Partial<Pick<AgentConfiguration, 'source' | 'additionalSources'>> {
  const before = new Set([source, ...additionalSources].filter((id) => id !== ''));
  const after = [...new Set(wanted)];
  if (before.size === after.length && after.every((id) => before.has(id))) return {};
  const primary = after.includes(source) ? source : (after[0] ?? '');
  return { source: primary, additionalSources: after.filter((id) => id !== primary) };
}
