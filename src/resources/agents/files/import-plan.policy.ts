import type { PortableTool } from '../../tools/portable/portable-tools.port.js';
import { presetOf } from '../../prompts/presets.policy.js';
import type { AgentId, AgentStatus } from '../agent.events.js';
import type { AgentFile, FileCustomModel } from './format/agent-file.policy.js';
import { fileRefused } from './format/file-fields.policy.js';
import type { FileOwnTool, FileTool } from './format/file-tools.policy.js';

/** The agent that an import changes, or `create` if the import creates one. */
export type ImportTarget = Readonly<
  | { action: 'update'; agent_id: AgentId; matched_by: 'id' | 'slug'; status: AgentStatus }
  | { action: 'create'; agent_id: null; matched_by: null; status: null }
>;

/** The resources that the caller owns, the oldest first. */
export type OwnedThings = Readonly<{
  sources: readonly Readonly<{ id: string; name: string }>[];
  tools: readonly Readonly<{ id: string; type: string; label: string }>[];
  /** The ids of prompts with the name and the text of the file's prompt, oldest first. */
  equalPrompts: readonly string[];
  models: readonly Readonly<{ id: string; display_name: string; upstream_model_id: string; base_url: string }>[];
}>;

/** The workflow of the agent that a file changes. */
export type CurrentWorkflow = Readonly<{ id: string; nodes: number; edges: number; isUsedElsewhere: boolean }>;

/** The tools and models that this service offers. */
export type Offered = Readonly<{
  isOffered: (type: string) => boolean;
  isBuiltin: (type: string) => boolean;
  builtinId: (type: string) => string;
  neededSecrets: (tool: PortableTool) => readonly string[];
  /** The models of the file that are served here. */
  models: ReadonlySet<string>;
}>;

export type PlannedTool = Readonly<
  | { key: string; type: string; builtin: true; status: 'builtin' | 'unavailable'; target_id: string | null }
  | { key: string; type: string; name: string; status: 'reuse'; target_id: string }
  | { key: string; type: string; name: string; status: 'create' | 'unavailable'; requires_secrets: readonly string[] }
>;

type PlannedModel = Readonly<
  | { id: string; status: 'matched' | 'unavailable' }
  | { display_name: string; status: 'reuse' | 'create'; requires_secrets: readonly string[] }
>;

/** What an import would do, as the API returns it. */
export type ImportPlan = Readonly<{
  target: ImportTarget;
  sources: readonly Readonly<{ name: string; type: string; status: 'matched' | 'missing'; target_id: string | null }>[];
  tools: readonly PlannedTool[];
  prompt: Readonly<{ status: 'default' } | { status: 'reuse' | 'create'; name: string }>;
  models: readonly PlannedModel[];
  workflow: Readonly<{ nodes: number; edges: number; action: 'create' | 'update' | 'delete' }> | null;
}>;

export const NEW_AGENT: ImportTarget = { action: 'create', agent_id: null, matched_by: null, status: null };

export const toolKey = (index: number): string => `tool-${index}`;

/** The name that its owner gave a tool, otherwise its type. */
export const labelOf = ({ name, display_name: displayName, type }: Pick<FileOwnTool, 'name' | 'display_name' | 'type'>): string =>
  name || displayName || type;

/** The id of the match that the file's `ref` names, otherwise of the oldest match. */
const meant = (fitting: readonly Readonly<{ id: string }>[], ref: string): string | undefined =>
  (fitting.find(({ id }) => id === ref) ?? fitting[0])?.id;

/** Plans an import. Changes nothing. */
export function importPlan(
  file: AgentFile,
  target: ImportTarget,
  owned: OwnedThings,
  offered: Offered,
  workflow: CurrentWorkflow | undefined,
): ImportPlan {
  return {
    target,
    sources: file.sources.map(({ name, type }) => {
      const id = owned.sources.find((source) => source.name === name)?.id;
      return { name, type, status: id === undefined ? 'missing' : 'matched', target_id: id ?? null };
    }),
    tools: file.tools.map((tool, index) => plannedTool(tool, toolKey(index), owned, offered)),
    prompt: plannedPrompt(file, owned),
    models: file.models.map((model) =>
      typeof model === 'string'
        ? { id: model, status: offered.models.has(model) ? 'matched' : 'unavailable' }
        : plannedCustomModel(model, owned),
    ),
    workflow: plannedWorkflow(file, target, workflow),
  };
}

/** The id of the caller's custom model that equals a model of the file. */
export function ownModelOf(model: FileCustomModel, { models }: OwnedThings): string | undefined {
  const { display_name: name, upstream_model_id: upstream, base_url: url, ref } = model;
  const isSame = (own: OwnedThings['models'][number]) =>
    own.display_name === name && own.upstream_model_id === upstream && own.base_url === url;
  return meant(models.filter(isSame), ref);
}

function plannedCustomModel(model: FileCustomModel, owned: OwnedThings): PlannedModel {
  const isThere = ownModelOf(model, owned) !== undefined;
  const { display_name: name } = model;
  return isThere
    ? { display_name: name, status: 'reuse', requires_secrets: [] }
    : { display_name: name, status: 'create', requires_secrets: ['api_key'] };
}

/** A workflow is deleted only if its agent is a draft and no other agent uses it. */
function plannedWorkflow(
  { workflow }: AgentFile,
  { status }: ImportTarget,
  current: CurrentWorkflow | undefined,
): ImportPlan['workflow'] {
  if (workflow === undefined) return null;
  if (workflow) {
    return { nodes: workflow.nodes.length, edges: workflow.edges.length, action: current ? 'update' : 'create' };
  }
  if (!current || status === 'published' || current.isUsedElsewhere) return null;
  return { nodes: current.nodes, edges: current.edges, action: 'delete' };
}

function plannedTool(tool: FileTool, key: string, owned: OwnedThings, offered: Offered): PlannedTool {
  const { type, ref } = tool;
  if (tool.builtin) {
    const isThere = offered.isBuiltin(type);
    const target = isThere ? offered.builtinId(type) : null;
    return { key, type, builtin: true, status: isThere ? 'builtin' : 'unavailable', target_id: target };
  }
  const name = labelOf(tool);
  const fitting = owned.tools.filter((each) => each.type === type && each.label === name);
  const id = meant(fitting, ref);
  if (id !== undefined) return { key, type, name, status: 'reuse', target_id: id };
  const status = offered.isOffered(type) ? 'create' : 'unavailable';
  return { key, type, name, status, requires_secrets: offered.neededSecrets(tool) };
}

function plannedPrompt({ prompt }: AgentFile, { equalPrompts }: OwnedThings): ImportPlan['prompt'] {
  if ('preset' in prompt) {
    if (!presetOf(prompt.preset)) throw fileRefused("spec.prompt must be 'default' or a mapping with name and content");
    return { status: 'default' };
  }
  return { status: equalPrompts.length > 0 ? 'reuse' : 'create', name: prompt.name };
}
