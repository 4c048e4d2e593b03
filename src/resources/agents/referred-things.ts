import { Injectable } from '@nestjs/common';
import type { AgentRecord } from '../../../projections/agents/agents.queries.js';
import { PromptQueries } from '../../../projections/prompts/prompts.queries.js';
import { SourceQueries } from '../../../projections/sources/sources.queries.js';
import { ToolQueries } from '../../../projections/tools/tools.queries.js';
import { Reaching } from '../identity/reaching.js';
import { isId } from '../../kernel/ids.js';
import { ownerCredentialWrites } from '../tools/toolbox/access.policy.js';
import { defaultToolDisplayName, defaultToolOf } from '../tools/defaults/default-tools.policy.js';

/** A resource that an agent refers to. `name` is undefined if the resource has been deleted. */
export type Referred = Readonly<{
  type: 'tool' | 'source' | 'prompt';
  id: string;
  name: string | undefined;
  /** Whether the agent's owner owns it or may use it by a grant. */
  isUsable: boolean;
  /** The actions of a tool that change something with the credentials that the tool's owner has stored. */
  ownerCredentialWrites: readonly string[];
}>;

/** A tool in the `tool_details` of an agent's record. */
export type ToolDetail = Readonly<{ id: string; name: string; display_name: string }>;

/** Looks up the resources that agents refer to, with their names. */
@Injectable()
export class ReferredThings {
  constructor(
    private readonly tools: ToolQueries,
    private readonly sources: SourceQueries,
    private readonly prompts: PromptQueries,
    private readonly reaching: Reaching,
  ) {}

  /** Each resource once, without default tools and preset prompts. */
  async of(agent: AgentRecord): Promise<readonly Referred[]> {
    return (await Promise.all([this.toolsOf(agent), this.sourcesOf(agent), this.promptOf(agent)])).flat();
  }

  /** The tools of the agents, by their ids. */
  async toolDetails(agents: readonly AgentRecord[]): Promise<ReadonlyMap<string, ToolDetail>> {
    const ids = [...new Set(agents.flatMap(({ configuration }) => configuration.tools))];
    const found = await this.tools.among(ids);
    const details = [
      ...found.map(({ id, definition }) => ({ id, name: definition.name, display_name: nameOf(definition) })),
      ...ids.flatMap((id) => {
        const name = defaultToolOf(id);
        return name === undefined ? [] : [{ id, name, display_name: defaultToolDisplayName(name) }];
      }),
    ];
    return new Map(details.map((detail) => [detail.id, detail]));
  }

  private async toolsOf({ ownerId, configuration }: AgentRecord): Promise<readonly Referred[]> {
    const ids = [...new Set(configuration.tools)].filter((id) => defaultToolOf(id) === undefined);
    const tools = await this.tools.among(ids);
    const usable = new Set(await this.reaching.usableAmong(ownerId, tools, 'tools'));
    return ids.map((id) => {
      const tool = tools.find((each) => each.id === id);
      const isUsable = tool !== undefined && usable.has(tool);
      const writes = isUsable ? ownerCredentialWrites(tool.definition) : [];
      return { type: 'tool', id, name: tool && nameOf(tool.definition), isUsable, ownerCredentialWrites: writes };
    });
  }

  private async sourcesOf({ ownerId, configuration }: AgentRecord): Promise<readonly Referred[]> {
    const ids = [...new Set([configuration.source, ...configuration.additionalSources])].filter((id) => id !== '');
    const sources = await this.sources.among(ids);
    return this.referred('source', ids, ownerId, sources);
  }

  private async promptOf({ ownerId, configuration: { promptId } }: AgentRecord): Promise<readonly Referred[]> {
    return isId(promptId) ? this.referred('prompt', [promptId], ownerId, await this.prompts.among([promptId])) : [];
  }

  private async referred(type: 'source' | 'prompt', ids: readonly string[], ownerId: string, found: readonly Found[]) {
    const usable = new Set(await this.reaching.usableAmong(ownerId, found, `${type}s`));
    return ids.map((id): Referred => {
      const thing = found.find((each) => each.id === id);
      return { type, id, name: thing?.name, isUsable: thing !== undefined && usable.has(thing), ownerCredentialWrites: [] };
    });
  }
}

type Found = Readonly<{ id: string; ownerId: string; name: string }>;

const nameOf = ({ customName, displayName }: Readonly<{ customName: string; displayName: string }>) => customName || displayName;
