import type { AgentConfiguration, AgentPolicy } from './agent.events.js';

/** An agent as a file wants it, with the ids of what it refers to here. The file is authoritative for all of it. */
export type ImportedAgent = Readonly<{
  name: string;
  description: string;
  agentType: string;
  chunks: number | null;
  /** Null: the file says nothing of it. */
  retriever: string | null;
  promptId: string;
  tools: readonly string[];
  models: readonly string[];
  defaultModelId: string;
  /** A set; which of them is the primary one is the agent's matter. */
  sources: readonly string[];
  limitsTokens: boolean;
  /** Null: the file says nothing of it. */
  tokenLimit: number | null;
  limitsRequests: boolean;
  requestLimit: number | null;
  jsonSchema: Readonly<Record<string, unknown>> | null;
  allowSystemPromptOverride: boolean;
  /** Undefined: the file says nothing of it. */
  mcpAsk?: boolean;
  config: AgentPolicy;
  /** Undefined: the file says nothing of it. */
  workflowId?: string | null;
}>;

const RETRIEVER_DEFAULT = 'classic';

/** What use is limited to where a file says that it is and not to how much. */
const TOKEN_LIMIT_DEFAULT = 50_000;
const REQUEST_LIMIT_DEFAULT = 500;

/** The fields of an agent as a file leaves them. Status, key, picture and folder are no part of a file. */
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

/** An agent that names no retriever is written as one of the default, and stays as it is. */
function retrieverAfter(
  current: AgentConfiguration,
  { retriever, sources }: ImportedAgent,
): Partial<Pick<AgentConfiguration, 'retriever'>> {
  const wanted = retriever ?? (sources.length === 0 ? RETRIEVER_DEFAULT : undefined);
  const isSame = wanted === undefined || wanted === (current.retriever || RETRIEVER_DEFAULT);
  return isSame ? {} : { retriever: wanted };
}

/** Sources are a set: the same ones in another order are no change. The primary one stays primary where it stays at all. */
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
