import { dump } from 'js-yaml';
import { Injectable } from '@nestjs/common';
import type { AgentRecord } from '../../../../projections/agents/agents.queries.js';
import { CustomModelQueries } from '../../../../projections/custom-models/custom-models.queries.js';
import { PromptQueries } from '../../../../projections/prompts/prompts.queries.js';
import { SourceQueries } from '../../../../projections/sources/sources.queries.js';
import { ToolQueries } from '../../../../projections/tools/tools.queries.js';
import { WorkflowQueries } from '../../../../projections/workflows/workflows.queries.js';
import { Commands } from '../../../kernel/commands.js';
import type { Cause } from '../../../kernel/event-sourcing/events.js';
import { isId } from '../../../kernel/ids.js';
import { presetOf } from '../../prompts/presets.policy.js';
import { PortableTools } from '../../tools/portable/portable-tools.port.js';
import { withoutUrlSecrets } from '../../tools/portable/portable-config.policy.js';
import { WorkflowGraphs } from '../../workflows/workflow-graphs.port.js';
import { defaultToolOf } from '../../tools/defaults/default-tools.policy.js';
import { UpdateAgent } from '../agent.commands.js';
import type { AgentConfiguration } from '../agent.events.js';
import { FILE_ENTRIES_MAX, FILE_KIND, FILE_VERSION } from './format/agent-file.policy.js';
import { fileRefused } from './format/file-fields.policy.js';
import { ReserveAgentSlug } from './agent-slugs.commands.js';
import { portablePolicy } from './imported-config.policy.js';
import { portableGraph, referencesOf } from './imported-workflow.policy.js';
import { toolKey } from './import-plan.policy.js';
import { slugOf } from './slug.policy.js';

export type ExportedAgent = Readonly<{ slug: string; text: string; position: bigint | undefined }>;

/** The id of a referenced resource, and its entry in the file. */
type Written = Readonly<{ id: string; written: string | Readonly<Record<string, unknown>> }>;

type References = Readonly<{ tools: readonly string[]; sources: readonly string[]; models: readonly string[] }>;

/** Exports agents as files, with the resources that they refer to and without secrets. */
@Injectable()
export class AgentExport {
  constructor(
    private readonly commands: Commands,
    private readonly tools: ToolQueries,
    private readonly sources: SourceQueries,
    private readonly prompts: PromptQueries,
    private readonly models: CustomModelQueries,
    private readonly workflows: WorkflowQueries,
    private readonly graphs: WorkflowGraphs,
    private readonly portable: PortableTools,
  ) {}

  /** The first export gives an agent its slug. @throws Rejection invalid-request if the agent refers to too many resources */
  async export(agent: AgentRecord, cause: Cause): Promise<ExportedAgent> {
    const { id, ownerId, configuration } = agent;
    const isWorkflow = configuration.agentType === 'workflow';
    const workflow = isWorkflow ? await this.workflowOf(ownerId, configuration.workflowId) : undefined;
    const references = workflow ? referencesOf(workflow.graph) : referencesIn(configuration);
    refuseTooMany(references);
    const [tools, sources, models, prompt] = await Promise.all([
      this.toolsOf(ownerId, references.tools),
      this.sourcesOf(ownerId, references.sources),
      this.modelsOf(ownerId, references.models),
      isWorkflow ? 'default' : this.promptOf(ownerId, configuration.promptId),
    ]);
    const { slug, position } = await this.slugOf(agent, cause);
    const named = { ...namesIn(tools, sources), model: modelName(models) };
    const own = configuration.defaultModelId;
    const spec = {
      name: configuration.name,
      description: configuration.description,
      agent_type: configuration.agentType,
      retriever: configuration.retriever || 'classic',
      chunks: configuration.chunks,
      prompt,
      model: {
        default: own === '' ? '' : ((await this.modelNamed(ownerId, own, named.model)) ?? ''),
        available: writtenOf(models),
      },
      sources: writtenOf(sources),
      tools: writtenOf(tools),
      limits: limitsOf(configuration),
      json_schema: configuration.jsonSchema,
      allow_system_prompt_override: configuration.allowSystemPromptOverride,
      mcp_ask: configuration.mcpAsk,
      config: portablePolicy(
        configuration.config,
        tools.map(({ id: toolId }) => toolId),
      ),
      ...(workflow && {
        workflow: {
          name: workflow.name,
          description: workflow.description,
          ...portableGraph(workflow.graph, named),
        },
      }),
    };
    return { slug, text: agentFileText({ metadata: { id, slug }, spec }), position };
  }

  private async slugOf({ id, ownerId, configuration: { slug, name } }: AgentRecord, cause: Cause) {
    if (slug !== '') return { slug, position: undefined };
    const own = await this.commands.execute(new ReserveAgentSlug(ownerId, id, slugOf(name), cause));
    const change = { changes: { slug: own } };
    const { position } = await this.commands.execute(new UpdateAgent(id, ownerId, change, cause));
    return { slug: own, position };
  }

  /** Tools that are deleted or belong to another user are left out. */
  private async toolsOf(ownerId: string, ids: readonly string[]): Promise<readonly Written[]> {
    const own = new Map((await this.tools.ownedAmong(ownerId, ids)).map((record) => [record.id, record.definition]));
    const written = await Promise.all(
      ids.map(async (id): Promise<readonly Written[]> => {
        const builtin = defaultToolOf(id);
        if (builtin !== undefined) return [{ id, written: { type: builtin, builtin: true, ref: id } }];
        const definition = own.get(id);
        if (!definition) return [];
        const { actions, requires_secrets: secrets, ...tool } = await this.portable.exported(ownerId, definition);
        const choices = { ...(actions.length > 0 && { actions }), ...(secrets?.length && { requires_secrets: secrets }) };
        return [{ id, written: { ...tool, ref: id, ...choices } }];
      }),
    );
    return written.flat();
  }

  private async sourcesOf(ownerId: string, ids: readonly string[]): Promise<readonly Written[]> {
    const records = await Promise.all(ids.map((id) => this.sources.byId(id)));
    return records.flatMap((record) =>
      record?.ownerId === ownerId
        ? [{ id: record.id, written: { name: record.name, type: record.remote?.kind ?? 'file', ref: record.id } }]
        : [],
    );
  }

  private async modelsOf(ownerId: string, ids: readonly string[]): Promise<readonly Written[]> {
    const written = await Promise.all(
      ids.map(async (id): Promise<readonly Written[]> => {
        if (!isId(id)) return [{ id, written: id }];
        const model = await this.models.byId(id);
        if (model?.ownerId !== ownerId) return [];
        const { displayName, upstreamModelId, baseUrl, capabilities } = model.definition;
        return [
          {
            id,
            written: {
              type: 'custom',
              display_name: displayName,
              upstream_model_id: upstreamModelId,
              base_url: withoutUrlSecrets(baseUrl),
              capabilities,
              requires_secrets: ['api_key'],
              ref: id,
            },
          },
        ];
      }),
    );
    return written.flat();
  }

  /** The name of the default model, also if it is not in the agent's list. The file describes only the models in the list. */
  private async modelNamed(ownerId: string, id: string, name: (id: string) => string | undefined): Promise<string | undefined> {
    if (name(id) !== undefined || !isId(id)) return name(id) ?? id;
    const model = await this.models.byId(id);
    return model?.ownerId === ownerId ? model.definition.displayName : undefined;
  }

  private async promptOf(ownerId: string, promptId: string): Promise<string | Readonly<{ name: string; content: string }>> {
    if (!isId(promptId)) return promptId !== '' && presetOf(promptId) ? promptId : 'default';
    const prompt = await this.prompts.byId(promptId);
    return prompt?.ownerId === ownerId ? { name: prompt.name, content: prompt.content } : 'default';
  }

  private async workflowOf(ownerId: string, workflowId: string | null) {
    const stored = workflowId === null ? undefined : await this.workflows.byId(workflowId);
    const graph = stored?.ownerId === ownerId ? await this.graphs.graphAt(stored.id, stored.version) : undefined;
    return stored && graph && { name: stored.name, description: stored.description, graph };
  }
}

const referencesIn = ({ source, additionalSources, tools, models }: AgentConfiguration): References => ({
  tools,
  sources: [...new Set([source, ...additionalSources])].filter((id) => id !== ''),
  models,
});

function refuseTooMany(references: References): void {
  for (const what of ['sources', 'tools', 'models'] as const) {
    if (references[what].length > FILE_ENTRIES_MAX) throw fileRefused(`Too many ${what} to export (max ${FILE_ENTRIES_MAX})`);
  }
}

const writtenOf = (things: readonly Written[]) => things.map(({ written }) => written);

function namesIn(tools: readonly Written[], sources: readonly Written[]) {
  const sourceNames = referableNames(sources, ({ written }) => (written as Readonly<{ name: string }>).name);
  const toolKeys = new Map(tools.map(({ id }, index) => [id, toolKey(index)]));
  return { tool: (id: string) => toolKeys.get(id), source: (id: string) => sourceNames.get(id) };
}

const modelName = (models: readonly Written[]) => {
  const nameOf = ({ written }: Written) => (typeof written === 'string' ? written : (written['display_name'] as string));
  const names = referableNames(models, nameOf);
  return (id: string) => names.get(id);
};

/** Maps each id to how the file refers to it: its name, or the id that its entry has as `ref` if several have the same name. */
function referableNames(things: readonly Written[], nameOf: (thing: Written) => string): ReadonlyMap<string, string> {
  const named = things.map((thing) => [thing.id, nameOf(thing)] as const);
  const isShared = (name: string) => named.filter(([, other]) => other === name).length > 1;
  return new Map(named.map(([id, name]) => [id, isShared(name) ? id : name]));
}

const limitsOf = ({ tokenLimit, requestLimit }: AgentConfiguration) => ({
  limited_token_mode: tokenLimit !== null,
  token_limit: tokenLimit,
  limited_request_mode: requestLimit !== null,
  request_limit: requestLimit,
});

/** The content of a file, with its keys in the order in which they are written. */
type WrittenAgent = Readonly<{
  metadata: Readonly<{ id: string; slug: string }>;
  spec: Readonly<Record<string, unknown>>;
}>;

/** The YAML text of a file, in block style and without line folding. The same agent always gives the same text. */
const agentFileText = ({ metadata, spec }: WrittenAgent): string =>
  dump({ apiVersion: FILE_VERSION, kind: FILE_KIND, metadata, spec }, { lineWidth: -1, noRefs: true, skipInvalid: true });
