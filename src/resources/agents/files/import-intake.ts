import { Injectable } from '@nestjs/common';
import { AgentQueries } from '../../../../projections/agents/agents.queries.js';
import { WorkflowQueries } from '../../../../projections/workflows/workflows.queries.js';
import { Clock } from '../../../kernel/clock.js';
import { Commands } from '../../../kernel/commands.js';
import { IdempotencyKeys } from '../../../kernel/event-sourcing/idempotency.js';
import { Streams } from '../../../kernel/event-sourcing/streams.js';
import { deterministicId, isId, newId } from '../../../kernel/ids.js';
import { Rejection } from '../../../kernel/rejection.js';
import { YamlBusy, YamlDocuments, YamlRefused } from '../../../platform/yaml/yaml-documents.port.js';
import { credentialIdOf } from '../../identity/access.policy.js';
import type { SignedInUser } from '../../identity/caller.js';
import { LanguageModels } from '../../models/model/language-model.port.js';
import { CUSTOM_MODELS_PER_USER_MAX } from '../../models/custom/custom-model.policy.js';
import { defaultToolId, defaultToolOf } from '../../tools/defaults/default-tools.policy.js';
import { type PortableTool, PortableTools } from '../../tools/portable/portable-tools.port.js';
import { TOOLS_PER_USER_MAX } from '../../tools/toolbox/definition.policy.js';
import { GraphValidation } from '../../workflows/graph-validation.port.js';
import { WorkflowGraphs } from '../../workflows/workflow-graphs.port.js';
import { type Agent, agent, importInto } from '../agent.decider.js';
import { type AgentConfiguration, agentStream } from '../agent.events.js';
import { agentTypeIn, BLANK_AGENT, lackingForPublication } from '../agent.policy.js';
import { fieldsAfterImport, type ImportedAgent } from '../imported-agent.policy.js';
import { normalSchema } from '../../models/model/response-schema.policy.js';
import { type AgentFile, agentFileIn, FILE_BYTES_MAX } from './format/agent-file.policy.js';
import { fileRefused } from './format/file-fields.policy.js';
import { AcceptAgentImport } from './agent-import.commands.js';
import { AgentImports, type ImportOutcome } from './agent-imports.process.js';
import { agentSlugs, slugFor } from './agent-slugs.decider.js';
import { agentSlugsStream } from './agent-slugs.events.js';
import { importDecisions, type Resolution } from './import-decisions.policy.js';
import { type CurrentWorkflow, importPlan, type ImportTarget, NEW_AGENT } from './import-plan.policy.js';
import { ImportPreparation, type PreparedImport, type ReadImport } from './import-preparation.js';
import { OwnedThingsLookup } from './owned-things.js';
import { slugOf } from './slug.policy.js';

/** Maximum number of a graph's problems in an error message. */
const GRAPH_PROBLEMS_SHOWN_MAX = 5;
/** Time during which an `Idempotency-Key` refers to its first import. */
const KEY_TTL_MS = 24 * 60 * 60 * 1000;

/** Reads and plans imports, and accepts them. Everything that can be refused is refused before anything is stored. */
@Injectable()
export class ImportIntake {
  constructor(
    private readonly yaml: YamlDocuments,
    private readonly streams: Streams,
    private readonly commands: Commands,
    private readonly clock: Clock,
    private readonly keys: IdempotencyKeys,
    private readonly things: OwnedThingsLookup,
    private readonly models: LanguageModels,
    private readonly portable: PortableTools,
    private readonly preparation: ImportPreparation,
    private readonly imports: AgentImports,
    private readonly workflows: WorkflowQueries,
    private readonly graphs: WorkflowGraphs,
    private readonly validation: GraphValidation,
    private readonly agents: AgentQueries,
  ) {}

  /** Reads a file and plans its import. Stores nothing. @throws Rejection invalid-request and others */
  async read(text: string, { userId }: SignedInUser): Promise<ReadImport> {
    const file = agentFileIn(await this.document(text));
    const [target, owned, models] = await Promise.all([
      this.targetOf(file, userId),
      this.things.of(userId, file.prompt),
      this.servedOf(file, userId),
    ]);
    const workflow = target && (await this.workflowOf(target.agent));
    const offered = {
      isOffered: (type: string) => this.portable.isOffered(type),
      isBuiltin: (type: string) => this.portable.isBuiltin(type),
      builtinId: defaultToolId,
      neededSecrets: (tool: PortableTool) => this.portable.neededSecrets(tool),
      models,
    };
    const plan = importPlan(file, target?.named ?? NEW_AGENT, owned, offered, workflow);
    const read = { file, plan, owned, models, target: target?.agent, workflow };
    refuseWrong(read);
    await this.refuseBrokenGraph(read, userId);
    return read;
  }

  /**
   * Creates or changes the agent, once per idempotency key.
   * @throws Rejection as `read` does, idempotency-key-reused, too-many-tools
   */
  async accept(
    text: string,
    resolution: Resolution,
    user: SignedInUser,
    key: string | undefined,
    read: ReadImport,
  ): Promise<ImportOutcome & Readonly<{ again: boolean }>> {
    const importId = newId();
    if (key === undefined) return { ...(await this.begin(importId, read, resolution, user)), again: false };
    const fingerprint = this.keys.fingerprintOf(text, resolution);
    const used = { scope: 'agent-import', callerId: credentialIdOf(user), key, fingerprint, ttlMs: KEY_TTL_MS };
    const { used: use, value } = await this.keys.use(used, { importId }, user.cause);
    if (use === 'differently') throw new Rejection('idempotency-key-reused', 'This Idempotency-Key was used for another import.');
    const done = use === 'again' ? await this.imports.complete(value.importId, user.cause) : undefined;
    return { ...(done ?? (await this.begin(value.importId, read, resolution, user))), again: use === 'again' };
  }

  private async document(text: string): Promise<unknown> {
    if (Buffer.byteLength(text) > FILE_BYTES_MAX) throw fileRefused('Import document too large');
    if (!text.isWellFormed()) throw fileRefused('The file is not valid UTF-8');
    try {
      return await this.yaml.read(text.replace(/^\uFEFF/, ''));
    } catch (error) {
      if (error instanceof YamlRefused) throw fileRefused(error.message);
      if (error instanceof YamlBusy) throw new Rejection('too-many-files', error.message);
      throw error;
    }
  }

  /** The agent that the file names, by id or otherwise by slug. Searches only the caller's own agents. */
  private async targetOf(
    { id, slug }: AgentFile,
    ownerId: string,
  ): Promise<Readonly<{ agent: Agent; named: ImportTarget }> | undefined> {
    const byId = isId(id.toLowerCase()) ? await this.owned(id.toLowerCase(), ownerId) : undefined;
    if (byId) return { agent: byId, named: named(byId, 'id') };
    if (slug === '') return undefined;
    const { holders } = (await this.streams.fold(agentSlugsStream(ownerId), agentSlugs)).state;
    const holder = holders.get(slug.toLowerCase());
    const bySlug = holder === undefined ? undefined : await this.owned(holder, ownerId);
    return bySlug?.configuration?.slug === slug.toLowerCase() ? { agent: bySlug, named: named(bySlug, 'slug') } : undefined;
  }

  private async owned(agentId: string, ownerId: string): Promise<Agent | undefined> {
    const { state } = await this.streams.fold(agentStream(agentId), agent);
    return state.ownerId === ownerId && (state.status === 'draft' || state.status === 'published') ? state : undefined;
  }

  private async workflowOf({ id, ownerId, configuration }: Agent): Promise<CurrentWorkflow | undefined> {
    const workflowId = configuration?.workflowId;
    const stored = workflowId ? await this.workflows.byId(workflowId) : undefined;
    if (stored?.ownerId !== ownerId) return undefined;
    const [graph, users] = await Promise.all([
      this.graphs.graphAt(stored.id, stored.version),
      this.agents.usingWorkflow(ownerId, stored.id),
    ]);
    const isUsedElsewhere = users.some((each) => each.id !== id);
    return { id: stored.id, nodes: graph?.nodes.length ?? 0, edges: graph?.edges.length ?? 0, isUsedElsewhere };
  }

  /** Validates the graph without its models, which are resolved later. */
  private async refuseBrokenGraph({ file: { workflow } }: ReadImport, ownerId: string): Promise<void> {
    if (!workflow) return;
    const nodes = workflow.nodes.map(({ config, ...node }) => ({
      ...node,
      data: { ...config, ...(node.type === 'agent' && { model_id: '' }) },
    }));
    const { problems } = await this.validation.check(ownerId, nodes, workflow.edges);
    if (problems.length > 0)
      throw fileRefused(`Workflow validation failed: ${problems.slice(0, GRAPH_PROBLEMS_SHOWN_MAX).join('; ')}`);
  }

  private async servedOf({ models, defaultModel, workflow }: AgentFile, ownerId: string): Promise<ReadonlySet<string>> {
    const named = new Set(
      [...models, defaultModel, ...(workflow?.nodes.map(({ config }) => config['model_id']) ?? [])].filter(
        (model) => typeof model === 'string' && model !== '',
      ),
    ) as ReadonlySet<string>;
    const served = await Promise.all([...named].map(async (id) => ((await this.models.has(id, ownerId)) ? [id] : [])));
    return new Set(served.flat());
  }

  private async begin(importId: string, read: ReadImport, resolution: Resolution, user: SignedInUser): Promise<ImportOutcome> {
    const { userId, cause } = user;
    const own = new Set(read.owned.tools.map(({ id }) => id));
    const isOwnTool = (id: string) => own.has(id) || defaultToolOf(id) !== undefined;
    const decisions = importDecisions(read.file, read.plan, resolution, read.owned, isOwnTool);
    const created = decisions.tools.filter(({ does }) => does === 'create').length;
    if (created > 0 && own.size + created > TOOLS_PER_USER_MAX) {
      throw new Rejection('too-many-tools', `There can be at most ${TOOLS_PER_USER_MAX} tools.`);
    }
    const added = decisions.models.filter(({ does }) => does === 'create').length;
    if (added > 0 && read.owned.models.length + added > CUSTOM_MODELS_PER_USER_MAX) {
      throw fileRefused(`There can be at most ${CUSTOM_MODELS_PER_USER_MAX} custom models.`);
    }
    const prepared = await this.preparation.prepare(importId, read, decisions, userId, cause);
    try {
      refuseUnpublishable(read.target, prepared.imported);
      const slug = await this.wantedSlug(read, userId);
      const unchanged = this.unchanged(importId, read, prepared, slug);
      if (unchanged) return unchanged;
      const accepted = {
        importId,
        ownerId: userId,
        agentId: read.target?.id ?? deterministicId('imported-agent', importId),
        action: read.target ? ('updated' as const) : ('created' as const),
        slug,
        imported: prepared.imported,
        deletes: prepared.deletes,
        warnings: prepared.warnings,
      };
      const { parts } = await this.commands.execute(new AcceptAgentImport(accepted, prepared.parts, cause));
      // If two attempts at this import ran concurrently, only the parts of one were accepted.
      await this.preparation.discard(userId, prepared.parts, parts);
    } catch (error) {
      // After a Rejection nothing has been stored. After any other error the import may have been accepted.
      if (error instanceof Rejection) await this.preparation.discard(userId, prepared.parts, []);
      throw error;
    }
    return (await this.imports.complete(importId, cause))!;
  }

  /** The result, if the import would not change anything. No event is appended then. */
  private unchanged(
    importId: string,
    { target }: ReadImport,
    { imported, parts, warnings }: PreparedImport,
    slug: string | null,
  ): ImportOutcome | undefined {
    if (!target || parts.length > 0) return undefined;
    const wanted = { importId, imported, slug: slug ?? undefined, hasParts: false, now: this.clock.now() };
    if (importInto(target.id, target.ownerId, wanted, undefined)(target).length > 0) return undefined;
    const status = target.status === 'published' ? 'published' : 'draft';
    const own = target.configuration!.slug;
    return {
      agentId: target.id,
      action: 'updated',
      status,
      slug: own,
      agentType: imported.agentType,
      warnings,
      position: undefined,
    };
  }

  /** The slug that the agent is to get. Null keeps its slug. */
  private async wantedSlug({ file, target }: ReadImport, ownerId: string): Promise<string | null> {
    const current = target?.configuration?.slug ?? '';
    if (file.slug === '') return current === '' ? slugOf(file.name) : null;
    const wanted = slugOf(file.slug);
    if (!target) return wanted;
    const { state } = await this.streams.fold(agentSlugsStream(ownerId), agentSlugs);
    return slugFor(state, target.id, wanted) === current ? null : wanted;
  }
}

const named = ({ id, status }: Agent, by: 'id' | 'slug'): ImportTarget => ({
  action: 'update',
  agent_id: id,
  matched_by: by,
  status: status === 'published' ? 'published' : 'draft',
});

/** Refuses a file that this service cannot import, whatever the caller decides. */
function refuseWrong({ file, target, workflow }: ReadImport): void {
  agentTypeIn(file.agentType, target?.configuration?.agentType ?? BLANK_AGENT.agentType);
  normalSchema(file.jsonSchema);
  if (target?.status === 'published' && file.agentType === 'workflow' && !file.workflow && !workflow) {
    throw fileRefused('A published workflow agent needs a workflow; this file has none');
  }
}

/** An import keeps the status, so a file is refused that removes a field which a published agent needs. */
function refuseUnpublishable(target: Agent | undefined, imported: ImportedAgent): void {
  if (target?.status !== 'published') return;
  const current = target.configuration!;
  const after: AgentConfiguration = { ...current, ...fieldsAfterImport(current, imported, undefined) };
  const lacking = lackingForPublication(after);
  if (lacking.length === 0) return;
  throw new Rejection('agent-not-publishable', `A published agent needs fields that this file lacks: ${lacking.join(', ')}`);
}
