import { Injectable } from '@nestjs/common';
import type { AgentRecord } from '../../../../projections/agents/agents.queries.js';
import { PromptQueries } from '../../../../projections/prompts/prompts.queries.js';
import { SourceQueries } from '../../../../projections/sources/sources.queries.js';
import { ToolQueries } from '../../../../projections/tools/tools.queries.js';
import { Commands } from '../../../kernel/commands.js';
import type { Cause } from '../../../kernel/event-sourcing/events.js';
import { isId } from '../../../kernel/ids.js';
import { presetOf } from '../../prompts/presets.policy.js';
import { PortableTools } from '../../tools/portable/portable-tools.port.js';
import { defaultToolOf } from '../../tools/defaults/default-tools.policy.js';
import { UpdateAgent } from '../agent.commands.js';
import type { AgentConfiguration } from '../agent.events.js';
import { FILE_ENTRIES_MAX, fileRefused } from './agent-file.policy.js';
import { agentFileText } from './agent-file-writer.js';
import { ReserveAgentSlug } from './agent-slugs.commands.js';
import { portablePolicy, sorted } from './imported-config.policy.js';
import { slugOf } from './slug.policy.js';

export type ExportedAgent = Readonly<{ slug: string; text: string; position: bigint | undefined }>;

/** Where a file says what its tools and sources are called, and where they are here. */
type Written<T> = Readonly<{ id: string; written: T }>;

/** Writes agents as files, with what they refer to and without any secret. */
@Injectable()
export class AgentExport {
  constructor(
    private readonly commands: Commands,
    private readonly tools: ToolQueries,
    private readonly sources: SourceQueries,
    private readonly prompts: PromptQueries,
    private readonly portable: PortableTools,
  ) {}

  /** The first export gives an agent its slug. @throws Rejection invalid-request where it refers to too much */
  async export(agent: AgentRecord, cause: Cause): Promise<ExportedAgent> {
    const { id, ownerId, configuration } = agent;
    const [tools, sources, prompt] = await Promise.all([
      this.toolsOf(ownerId, configuration.tools),
      this.sourcesOf(ownerId, configuration),
      this.promptOf(ownerId, configuration.promptId),
    ]);
    const { models } = configuration;
    for (const [what, entries] of Object.entries({ sources, tools, models })) {
      if (entries.length > FILE_ENTRIES_MAX) throw fileRefused(`Too many ${what} to export (max ${FILE_ENTRIES_MAX})`);
    }
    const { slug, position } = await this.slugOf(agent, cause);
    const spec = {
      name: configuration.name,
      description: configuration.description,
      agent_type: configuration.agentType,
      retriever: configuration.retriever || 'classic',
      chunks: configuration.chunks,
      prompt,
      model: { default: configuration.defaultModelId, available: models },
      sources: sources.map(({ written }) => written),
      tools: tools.map(({ written }) => written),
      limits: limitsOf(configuration),
      json_schema: sorted(configuration.jsonSchema),
      allow_system_prompt_override: configuration.allowSystemPromptOverride,
      config: portablePolicy(
        configuration.config,
        tools.map(({ id: toolId }) => toolId),
      ),
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

  /** What is gone, or was never the owner's, is not written. */
  private async toolsOf(ownerId: string, ids: readonly string[]): Promise<readonly Written<object>[]> {
    const own = new Map((await this.tools.ownedAmong(ownerId, ids)).map((record) => [record.id, record.definition]));
    const written = await Promise.all(
      ids.map(async (id): Promise<readonly Written<object>[]> => {
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

  private async sourcesOf(
    ownerId: string,
    { source, additionalSources }: AgentConfiguration,
  ): Promise<readonly Written<object>[]> {
    const ids = [...new Set([source, ...additionalSources])].filter((id) => id !== '');
    const records = await Promise.all(ids.map((id) => this.sources.byId(id)));
    return records.flatMap((record) =>
      record?.ownerId === ownerId
        ? [{ id: record.id, written: { name: record.name, type: record.remote?.kind ?? 'file', ref: record.id } }]
        : [],
    );
  }

  private async promptOf(ownerId: string, promptId: string): Promise<string | Readonly<{ name: string; content: string }>> {
    if (!isId(promptId)) return promptId !== '' && presetOf(promptId) ? promptId : 'default';
    const prompt = await this.prompts.byId(promptId);
    return prompt?.ownerId === ownerId ? { name: prompt.name, content: prompt.content } : 'default';
  }
}

const limitsOf = ({ tokenLimit, requestLimit }: AgentConfiguration) => ({
  limited_token_mode: tokenLimit !== null,
  token_limit: tokenLimit,
  limited_request_mode: requestLimit !== null,
  request_limit: requestLimit,
});
