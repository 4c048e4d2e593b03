import { Injectable } from '@nestjs/common';
import { Commands } from '../../../kernel/commands.js';
import { IdempotencyKeys } from '../../../kernel/event-sourcing/idempotency.js';
import { Streams } from '../../../kernel/event-sourcing/streams.js';
import { collectFailures } from '../../../kernel/each-of.js';
import { deterministicId, isId, newId } from '../../../kernel/ids.js';
import { Rejection } from '../../../kernel/rejection.js';
import { Clock } from '../../../kernel/clock.js';
import { YamlBusy, YamlDocuments, YamlRefused } from '../../../platform/yaml/yaml-documents.port.js';
import { credentialIdOf } from '../../identity/access.policy.js';
import type { SignedInUser } from '../../identity/caller.js';
import { Guardrails } from '../../guardrails/guardrails.port.js';
import { LanguageModels } from '../../models/model/language-model.port.js';
import { defaultToolId, defaultToolOf } from '../../tools/defaults/default-tools.policy.js';
import { type PortableTool, PortableTools, ToolNotPortable } from '../../tools/portable/portable-tools.port.js';
import { TOOLS_PER_USER_MAX } from '../../tools/toolbox/definition.policy.js';
import type { ToolDefinition } from '../../tools/toolbox/tool.events.js';
import { type Agent, agent, importInto } from '../agent.decider.js';
import { type AgentConfiguration, agentStream } from '../agent.events.js';
import { agentTypeIn, BLANK_AGENT, lackingForPublication } from '../agent.policy.js';
import { fieldsAfterImport, type ImportedAgent } from '../imported-agent.policy.js';
import { normalSchema } from '../response-schema.policy.js';
import { type AgentFile, agentFileIn, FILE_BYTES_MAX, fileRefused, type FileOwnTool } from './agent-file.policy.js';
import { AcceptAgentImport } from './agent-import.commands.js';
import type { ImportPart } from './agent-import.events.js';
import { AgentImports, type ImportOutcome } from './agent-imports.process.js';
import { agentSlugs, slugFor } from './agent-slugs.decider.js';
import { agentSlugsStream } from './agent-slugs.events.js';
import { type ImportDecisions, importDecisions, type Resolution } from './import-decisions.policy.js';
import { importedPolicy } from './imported-config.policy.js';
import {
  type ImportPlan,
  importPlan,
  type ImportTarget,
  labelOf,
  NEW_AGENT,
  type OwnedThings,
  toolKey,
} from './import-plan.policy.js';
import { OwnedThingsLookup } from './owned-things.js';
import { slugOf } from './slug.policy.js';

/** How long an `Idempotency-Key` stands for its first import. */
const KEY_TTL_MS = 24 * 60 * 60 * 1000;
const TOOLS_AT_ONCE_MAX = 25;

/** A file that was read, with what it meets here. */
export type ReadImport = Readonly<{
  file: AgentFile;
  plan: ImportPlan;
  owned: OwnedThings;
  models: ReadonlySet<string>;
  /** The agent that it changes; undefined where it makes one. */
  target: Agent | undefined;
}>;

type Prepared = Readonly<{ imported: ImportedAgent; parts: readonly ImportPart[]; warnings: readonly string[] }>;

/** Reads files of agents, says what they would do, and has it done. All that can be refused is refused before anything is kept. */
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
    private readonly imports: AgentImports,
    private readonly guardrails: Guardrails,
  ) {}

  /** What a file says, and what it would do here. Nothing is kept. @throws Rejection invalid-request and others */
  async read(text: string, { userId }: SignedInUser): Promise<ReadImport> {
    const file = agentFileIn(await this.document(text));
    const [target, owned, models] = await Promise.all([this.targetOf(file, userId), this.things.of(userId), this.servedOf(file)]);
    const offered = {
      isOffered: (type: string) => this.portable.isOffered(type),
      isBuiltin: (type: string) => this.portable.isBuiltin(type),
      builtinId: defaultToolId,
      neededSecrets: (tool: PortableTool) => this.portable.neededSecrets(tool),
      models,
    };
    const plan = importPlan(file, target?.named ?? NEW_AGENT, owned, offered);
    const read = { file, plan, owned, models, target: target?.agent };
    refuseWrong(read);
    return read;
  }

  /** Makes or changes the agent, once for each key. @throws Rejection as `read` does; idempotency-key-reused, too-many-tools */
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

  /** By id, then by slug; of the caller's own agents only. */
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

  private async servedOf({ models, defaultModel }: AgentFile): Promise<ReadonlySet<string>> {
    const named = new Set(
      [...models, defaultModel].filter((model) => typeof model === 'string' && model !== ''),
    ) as ReadonlySet<string>;
    const served = await Promise.all([...named].map(async (id) => ((await this.models.has(id)) ? [id] : [])));
    return new Set(served.flat());
  }

  private async begin(importId: string, read: ReadImport, resolution: Resolution, user: SignedInUser): Promise<ImportOutcome> {
    const { userId, cause } = user;
    const own = new Set(read.owned.tools.map(({ id }) => id));
    const isOwnTool = (id: string) => own.has(id) || defaultToolOf(id) !== undefined;
    const decisions = importDecisions(read.file, read.plan, resolution, read.owned, { isOwnTool, models: read.models });
    const created = decisions.tools.filter(({ does }) => does === 'create').length;
    if (created > 0 && own.size + created > TOOLS_PER_USER_MAX) {
      throw new Rejection('too-many-tools', `There can be at most ${TOOLS_PER_USER_MAX} tools.`);
    }
    const prepared = await this.prepare(importId, read, decisions, userId);
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
        warnings: prepared.warnings,
      };
      const { parts } = await this.commands.execute(new AcceptAgentImport(accepted, prepared.parts, cause));
      await this.discardOthers(userId, prepared.parts, parts);
    } catch (error) {
      // Of what was refused nothing was stored; of anything else that is not known.
      if (error instanceof Rejection) await this.discardOthers(userId, prepared.parts, []);
      throw error;
    }
    return (await this.imports.complete(importId, cause))!;
  }

  /** Of two attempts at one import one is accepted; the secrets that only the other sealed are forgotten. */
  private async discardOthers(ownerId: string, own: readonly ImportPart[], kept: readonly ImportPart[]): Promise<void> {
    const used = new Set(kept.map((part) => (part.kind === 'tool' ? part.definition.credentialsId : null)));
    for (const part of own) {
      if (part.kind === 'tool' && !used.has(part.definition.credentialsId)) await this.portable.discard(ownerId, part.definition);
    }
  }

  /** A file that says what is so already is no event. */
  private unchanged(
    importId: string,
    { target }: ReadImport,
    { imported, parts, warnings }: Prepared,
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

  /** The slug that the agent is to get; null: it keeps the one that it has. */
  private async wantedSlug({ file, target }: ReadImport, ownerId: string): Promise<string | null> {
    const current = target?.configuration?.slug ?? '';
    if (file.slug === '') return current === '' ? slugOf(file.name) : null;
    const wanted = slugOf(file.slug);
    if (!target) return wanted;
    const { state } = await this.streams.fold(agentSlugsStream(ownerId), agentSlugs);
    return slugFor(state, target.id, wanted) === current ? null : wanted;
  }

  /** Everything that the agent refers to, with new things set up as far as that does not change anything. */
  private async prepare(importId: string, read: ReadImport, decisions: ImportDecisions, ownerId: string): Promise<Prepared> {
    const { file, target, owned } = read;
    const warnings = [...decisions.warnings];
    const tools = await this.prepareTools(importId, file, decisions, ownerId, warnings);
    const current = target?.configuration ?? BLANK_AGENT;
    const prompt = promptOf(importId, file, owned, current.promptId);
    const config = { config: file.config, toolIds: tools.ids, refs: file.tools.map(({ ref }) => ref) };
    const { limits } = file;
    const imported: ImportedAgent = {
      name: file.name,
      description: file.description,
      agentType: agentTypeIn(file.agentType, current.agentType),
      chunks: file.chunks,
      retriever: file.retriever ?? null,
      promptId: prompt.id,
      tools: [...new Set(tools.ids.filter((id) => id !== null))],
      models: decisions.models,
      defaultModelId: decisions.defaultModelId,
      sources: decisions.sources,
      limitsTokens: limits.limited_token_mode,
      tokenLimit: limits.token_limit ?? null,
      limitsRequests: limits.limited_request_mode,
      requestLimit: limits.request_limit ?? null,
      jsonSchema: normalSchema(file.jsonSchema),
      allowSystemPromptOverride: file.allowSystemPromptOverride,
      config: importedPolicy(config, { current: current.config, checks: this.guardrails.checks }, warnings),
    };
    return { imported, parts: [...tools.parts, ...prompt.parts], warnings };
  }

  private async prepareTools(
    importId: string,
    file: AgentFile,
    { tools: decided }: ImportDecisions,
    ownerId: string,
    warnings: string[],
  ): Promise<Readonly<{ ids: readonly (string | null)[]; parts: readonly ImportPart[] }>> {
    const notes: string[][] = decided.map(() => []);
    const made: (ToolDefinition | null)[] = decided.map(() => null);
    const work = async (index: number) => {
      const decision = decided[index]!;
      if (decision.does !== 'create') return;
      const tool = file.tools[index] as FileOwnTool;
      try {
        const { definition, warnings: about } = await this.portable.prepare(ownerId, tool, decision.secrets);
        made[index] = definition;
        notes[index]!.push(...about.map((each) => `Tool '${labelOf(tool)}' ${each}`));
      } catch (error) {
        if (!(error instanceof ToolNotPortable)) throw error;
        notes[index]!.push(`Tool '${labelOf(tool)}' ${error.message}`);
      }
    };
    const [failure] = await collectFailures([...decided.keys()], work, TOOLS_AT_ONCE_MAX);
    if (failure !== undefined) {
      for (const definition of made) if (definition) await this.portable.discard(ownerId, definition);
      throw failure as Error;
    }
    warnings.push(...notes.flat());
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
}

const named = ({ id, status }: Agent, by: 'id' | 'slug'): ImportTarget => ({
  action: 'update',
  agent_id: id,
  matched_by: by,
  status: status === 'published' ? 'published' : 'draft',
});

/** What makes a file wrong for this service, whatever is decided about it. */
function refuseWrong({ file, target }: ReadImport): void {
  agentTypeIn(file.agentType, target?.configuration?.agentType ?? BLANK_AGENT.agentType);
  normalSchema(file.jsonSchema);
}

/** Status is kept, so a file that takes away what a published agent needs is refused. */
function refuseUnpublishable(target: Agent | undefined, imported: ImportedAgent): void {
  if (target?.status !== 'published') return;
  const current = target.configuration!;
  const after: AgentConfiguration = { ...current, ...fieldsAfterImport(current, imported, undefined) };
  const lacking = lackingForPublication(after);
  if (lacking.length === 0) return;
  throw new Rejection('agent-not-publishable', `A published agent needs more than this file says: ${lacking.join(', ')}`);
}

function promptOf(
  importId: string,
  { prompt }: AgentFile,
  { prompts }: OwnedThings,
  current: string,
): Readonly<{ id: string; parts: readonly ImportPart[] }> {
  if ('preset' in prompt) return { id: prompt.preset === 'default' ? '' : prompt.preset, parts: [] };
  const { name, content } = prompt;
  const same = prompts.filter((each) => each.name === name && each.content === content);
  const reused = same.find(({ id }) => id === current) ?? same[0];
  if (reused) return { id: reused.id, parts: [] };
  const id = deterministicId('imported-prompt', importId);
  return { id, parts: [{ kind: 'prompt', id, name, content }] };
}
