import { Injectable } from '@nestjs/common';
import type { Cause } from '../../../kernel/event-sourcing/events.js';
import { WorkflowQueries } from '../../../../projections/workflows/workflows.queries.js';
import { collectFailures } from '../../../kernel/each-of.js';
import { deterministicId } from '../../../kernel/ids.js';
import { sameJson } from '../../../kernel/same-json.js';
import type { CustomModelDefinition } from '../../models/custom/custom-model.events.js';
import { ModelNotPortable, PortableModels } from '../../models/custom/portable-models.port.js';
import { PortableTools, ToolNotPortable } from '../../tools/portable/portable-tools.port.js';
import type { ToolDefinition } from '../../tools/toolbox/tool.events.js';
import { WorkflowGraphs } from '../../workflows/workflow-graphs.port.js';
import type { Agent } from '../agent.decider.js';
import { agentTypeIn, BLANK_AGENT } from '../agent.policy.js';
import type { ImportedAgent } from '../imported-agent.policy.js';
import { normalSchema } from '../../models/model/response-schema.policy.js';
import type { AgentFile, FileCustomModel } from './format/agent-file.policy.js';
import type { FileOwnTool } from './format/file-tools.policy.js';
import type { ImportPart } from './agent-import.events.js';
import type { ImportDecisions } from './import-decisions.policy.js';
import { Guardrails } from '../../guardrails/guardrails.port.js';
import { importedPolicy } from './imported-config.policy.js';
import { importedGraph, portableGraph, type ImportedReferences, toolIndexOf } from './imported-workflow.policy.js';
import { type CurrentWorkflow, type ImportPlan, labelOf, type OwnedThings, toolKey } from './import-plan.policy.js';

const AT_ONCE_MAX = 25;

/** A file that was read, with its plan and the resources here that the plan refers to. */
export type ReadImport = Readonly<{
  file: AgentFile;
  plan: ImportPlan;
  owned: OwnedThings;
  /** The models of the file that are served here. */
  models: ReadonlySet<string>;
  /** The agent that the import changes. Undefined if it creates one. */
  target: Agent | undefined;
  workflow: CurrentWorkflow | undefined;
}>;

/** The agent and the parts of an import, before anything but secrets is stored. */
export type PreparedImport = Readonly<{
  imported: ImportedAgent;
  parts: readonly ImportPart[];
  deletes: string | null;
  warnings: readonly string[];
}>;

/** The ids in the order of the file. Null for entries that are not attached. */
type Made = Readonly<{ ids: readonly (string | null)[]; parts: readonly ImportPart[] }>;

/** Prepares the parts of imports: validates them and stores their secrets. Appends no events. */
@Injectable()
export class ImportPreparation {
  constructor(
    private readonly tools: PortableTools,
    private readonly models: PortableModels,
    private readonly workflows: WorkflowQueries,
    private readonly graphs: WorkflowGraphs,
    private readonly guardrails: Guardrails,
  ) {}

  async prepare(
    importId: string,
    read: ReadImport,
    decisions: ImportDecisions,
    ownerId: string,
    cause: Cause,
  ): Promise<PreparedImport> {
    const { file, target, owned } = read;
    const warnings = [...decisions.warnings];
    const made: ImportPart[] = [];
    try {
      const tools = await this.makeTools(importId, file, decisions, ownerId, cause, warnings);
      made.push(...tools.parts);
      const models = await this.makeModels(importId, file, decisions, ownerId, warnings);
      made.push(...models.parts);
      const current = target?.configuration ?? BLANK_AGENT;
      const prompt = promptOf(importId, file, owned, current.promptId);
      made.push(...prompt.parts);
      const sourceOf = (name: string) => decisions.sourcesByName.get(name) ?? null;
      const modelOf = (name: string) => modelNamed(name, read, models.ids, current.defaultModelId);
      const toolOf = (key: string) => tools.ids[toolIndexOf(file, key)] ?? null;
      const workflow = await this.workflowOf(importId, read, { tool: toolOf, source: sourceOf, model: modelOf }, warnings);
      made.push(...workflow.parts);
      const isWorkflow = file.agentType === 'workflow';
      const defaultModelId = file.defaultModel === '' ? '' : modelOf(file.defaultModel);
      if (defaultModelId === null) warnings.push(`Default model '${file.defaultModel}' not resolved`);
      const { limits } = file;
      const config = { config: file.config, toolIds: tools.ids, refs: file.tools.map(({ ref }) => ref) };
      const imported: ImportedAgent = {
        name: file.name,
        description: file.description,
        agentType: agentTypeIn(file.agentType, current.agentType),
        chunks: file.chunks,
        retriever: file.retriever ?? null,
        promptId: isWorkflow ? '' : prompt.id,
        tools: isWorkflow ? [] : attached(tools.ids),
        models: isWorkflow ? [] : attached(models.ids),
        defaultModelId: isWorkflow ? '' : (defaultModelId ?? ''),
        sources: isWorkflow ? [] : decisions.sources,
        limitsTokens: limits.limited_token_mode,
        tokenLimit: limits.token_limit ?? null,
        limitsRequests: limits.limited_request_mode,
        requestLimit: limits.request_limit ?? null,
        jsonSchema: normalSchema(file.jsonSchema),
        allowSystemPromptOverride: file.allowSystemPromptOverride,
        ...(file.mcpAsk !== undefined && { mcpAsk: file.mcpAsk }),
        config: importedPolicy(config, { current: current.config, checks: this.guardrails.checks }, warnings),
        ...(workflow.id !== undefined && { workflowId: workflow.id }),
      };
      return { imported, parts: made, deletes: workflow.deletes, warnings };
    } catch (error) {
      await this.discard(ownerId, made, []);
      throw error;
    }
  }

  /** Deletes the secrets of parts that were not accepted. */
  async discard(ownerId: string, parts: readonly ImportPart[], kept: readonly ImportPart[]): Promise<void> {
    const used = new Set(kept.map(credentialsOf));
    for (const part of parts) {
      if (used.has(credentialsOf(part))) continue;
      if (part.kind === 'tool') await this.tools.discard(ownerId, part.definition);
      if (part.kind === 'model') await this.models.discard(ownerId, part.definition);
    }
  }

  private async makeTools(
    importId: string,
    file: AgentFile,
    { tools: decided }: ImportDecisions,
    ownerId: string,
    cause: Cause,
    warnings: string[],
  ): Promise<Made> {
    const make = async (index: number, notes: string[]): Promise<ToolDefinition | null> => {
      const decision = decided[index]!;
      if (decision.does !== 'create') return null;
      const tool = file.tools[index] as FileOwnTool;
      try {
        const { definition, warnings: about } = await this.tools.prepare(ownerId, tool, decision.secrets, cause);
        notes.push(...about.map((each) => `Tool '${labelOf(tool)}' ${each}`));
        return definition;
      } catch (error) {
        if (!(error instanceof ToolNotPortable)) throw error;
        notes.push(`Tool '${labelOf(tool)}' ${error.message}`);
        return null;
      }
    };
    const made = await allOf(decided.length, make, warnings, (definition) => this.tools.discard(ownerId, definition));
    const idOf = (index: number): string | null => {
      const decision = decided[index]!;
      if (decision.does === 'use') return decision.id;
      if (decision.does === 'share') return idOf(decision.with);
      return made[index] ? deterministicId('imported-tool', importId, toolKey(index)) : null;
    };
    const ids = decided.map((_, index) => idOf(index));
    const parts = made.flatMap((definition, index) =>
      definition ? [{ kind: 'tool' as const, id: ids[index]!, definition }] : [],
    );
    return { ids, parts };
  }

  private async makeModels(
    importId: string,
    file: AgentFile,
    { models: decided }: ImportDecisions,
    ownerId: string,
    warnings: string[],
  ): Promise<Made> {
    const make = async (index: number, notes: string[]): Promise<CustomModelDefinition | null> => {
      const decision = decided[index]!;
      if (decision.does !== 'create') return null;
      const model = file.models[index] as FileCustomModel;
      try {
        return await this.models.prepare(ownerId, model, decision.apiKey);
      } catch (error) {
        if (!(error instanceof ModelNotPortable)) throw error;
        notes.push(`Custom model '${model.display_name}' ${error.message}`);
        return null;
      }
    };
    const made = await allOf(decided.length, make, warnings, (definition) => this.models.discard(ownerId, definition));
    const ids = decided.map((decision, index) => {
      if (decision.does === 'use') return decision.id;
      return made[index] ? deterministicId('imported-model', importId, index) : null;
    });
    const parts = made.flatMap((definition, index) =>
      definition ? [{ kind: 'model' as const, id: ids[index]!, definition }] : [],
    );
    return { ids, parts };
  }

  /**
   * The workflow that the agent gets. Undefined in the file changes nothing, a graph creates a new workflow or version, and null
   * removes the workflow of a draft and deletes it if no other agent uses it.
   */
  private async workflowOf(
    importId: string,
    { file, plan, target, workflow: current }: ReadImport,
    references: ImportedReferences,
    warnings: string[],
  ): Promise<Readonly<{ id: string | null | undefined; parts: readonly ImportPart[]; deletes: string | null }>> {
    const { workflow } = file;
    if (workflow === undefined) return { id: undefined, parts: [], deletes: null };
    if (workflow === null) {
      if (target?.status === 'published') {
        warnings.push('File has no workflow; the published agent kept its existing one');
        return { id: undefined, parts: [], deletes: null };
      }
      const isDeleted = plan.workflow?.action === 'delete';
      if (isDeleted)
        warnings.push(`File has no workflow; the agent's workflow was deleted along with its run history and artifacts`);
      return { id: null, parts: [], deletes: isDeleted ? current!.id : null };
    }
    const graph = importedGraph(workflow, references, warnings);
    const id = current?.id ?? deterministicId('imported-workflow', importId);
    const { description } = workflow;
    const name = workflow.name || file.name;
    if (current && (await this.isSame(current.id, { name, description }, graph))) return { id, parts: [], deletes: null };
    return { id, parts: [{ kind: 'workflow', id, isNew: !current, name, description, graph }], deletes: null };
  }

  /** Whether the stored workflow equals the text and graph, in whichever form its settings are stored. */
  private async isSame(
    workflowId: string,
    text: Readonly<{ name: string; description: string }>,
    graph: Parameters<typeof portableGraph>[0],
  ): Promise<boolean> {
    const stored = await this.workflows.byId(workflowId);
    if (stored?.name !== text.name || stored.description !== text.description) return false;
    const before = await this.graphs.graphAt(workflowId, stored.version);
    return before !== undefined && sameJson(portableGraph(before, AS_THEY_ARE), portableGraph(graph, AS_THEY_ARE));
  }
}

const AS_THEY_ARE = { tool: (id: string) => id, source: (id: string) => id, model: (id: string) => id };

const attached = (ids: readonly (string | null)[]): readonly string[] => [...new Set(ids.filter((id) => id !== null))];

const credentialsOf = (part: ImportPart): string | null =>
  part.kind === 'tool' || part.kind === 'model' ? part.definition.credentialsId : null;

/** Calls `make` for each index, concurrently, and collects the notes in order. If a call fails, discards all that was made. */
async function allOf<T>(
  count: number,
  make: (index: number, notes: string[]) => Promise<T | null>,
  warnings: string[],
  discard: (made: T) => Promise<void>,
): Promise<readonly (T | null)[]> {
  const made: (T | null)[] = Array.from({ length: count }, () => null);
  const notes: string[][] = made.map(() => []);
  const work = async (index: number) => {
    made[index] = await make(index, notes[index]!);
  };
  const [failure] = await collectFailures([...made.keys()], work, AT_ONCE_MAX);
  if (failure !== undefined) {
    for (const each of made) if (each !== null) await discard(each);
    throw failure as Error;
  }
  warnings.push(...notes.flat());
  return made;
}

/**
 * Resolves the name of a model: a served model of the file by its id, a custom model of the file by its name or `ref`, another
 * served model by its id, or a custom model of the caller by its name or id. If several of these match, the agent's current one.
 */
function modelNamed(
  name: string,
  { file, models, owned }: ReadImport,
  ids: readonly (string | null)[],
  current: string,
): string | null {
  if (file.models.includes(name) && models.has(name)) return name;
  const ofFile = (isMeant: (model: FileCustomModel) => boolean) =>
    file.models.findIndex((model) => typeof model !== 'string' && isMeant(model));
  const byName = ofFile((model) => model.display_name === name);
  const index = byName >= 0 ? byName : ofFile(({ ref }) => ref !== '' && ref === name);
  if (index >= 0) return ids[index] ?? null;
  if (models.has(name)) return name;
  const own = owned.models.filter((model) => model.display_name === name || model.id === name);
  if (own.length === 1) return own[0]!.id;
  return own.some(({ id }) => id === current) ? current : null;
}

/** Reuses a prompt of the same name and content, preferably the agent's current one. */
function promptOf(
  importId: string,
  { prompt }: AgentFile,
  { equalPrompts }: OwnedThings,
  current: string,
): Readonly<{ id: string; parts: readonly ImportPart[] }> {
  if ('preset' in prompt) return { id: prompt.preset === 'default' ? '' : prompt.preset, parts: [] };
  const reused = equalPrompts.includes(current) ? current : equalPrompts[0];
  if (reused !== undefined) return { id: reused, parts: [] };
  const id = deterministicId('imported-prompt', importId);
  return { id, parts: [{ kind: 'prompt', id, ...prompt }] };
}
