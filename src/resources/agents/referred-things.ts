import { Injectable } from '@nestjs/common';
import type { AgentRecord } from '../../../projections/agents/agents.queries.js';
import { PromptQueries } from '../../../projections/prompts/prompts.queries.js';
import { SourceQueries } from '../../../projections/sources/sources.queries.js';
import { ToolQueries } from '../../../projections/tools/tools.queries.js';
import { isId } from '../../kernel/ids.js';
import { ownerCredentialWrites } from '../tools/toolbox/access.policy.js';
import { defaultToolDisplayName, defaultToolOf } from '../tools/defaults/default-tools.policy.js';

/** Something that an agent refers to. A name that is missing belongs to something that is gone. */
export type Referred = Readonly<{
  type: 'tool' | 'source' | 'prompt';
  id: string;
  name: string | undefined;
  /** What it can change with what its owner has stored. */
  ownerCredentialWrites: readonly string[];
}>;

/** A tool as agents list it. */
export type ToolDetail = Readonly<{ id: string; name: string; display_name: string }>;

/** What agents refer to, by the names that their owner knows it under. */
@Injectable()
export class ReferredThings {
  constructor(
    private readonly tools: ToolQueries,
    private readonly sources: SourceQueries,
    private readonly prompts: PromptQueries,
  ) {}

  /** Each once; what everybody has is not among it. */
  async of(agent: AgentRecord): Promise<readonly Referred[]> {
    return (await Promise.all([this.toolsOf(agent), this.sourcesOf(agent), this.promptOf(agent)])).flat();
  }

  /** The tools of some agents of one owner, by their ids. */
  async toolDetails(ownerId: string, agents: readonly AgentRecord[]): Promise<ReadonlyMap<string, ToolDetail>> {
    const ids = [...new Set(agents.flatMap(({ configuration }) => configuration.tools))];
    const own = await this.tools.ownedAmong(ownerId, ids);
    const details = [
      ...own.map(({ id, definition }) => ({ id, name: definition.name, display_name: nameOf(definition) })),
      ...ids.flatMap((id) => {
        const name = defaultToolOf(id);
        return name === undefined ? [] : [{ id, name, display_name: defaultToolDisplayName(name) }];
      }),
    ];
    return new Map(details.map((detail) => [detail.id, detail]));
  }

  private async toolsOf({ ownerId, configuration }: AgentRecord): Promise<readonly Referred[]> {
    const ids = [...new Set(configuration.tools)].filter((id) => defaultToolOf(id) === undefined);
    const found = new Map((await this.tools.ownedAmong(ownerId, ids)).map(({ id, definition }) => [id, definition]));
    return ids.map((id) => {
      const definition = found.get(id);
      const writes = definition ? ownerCredentialWrites(definition) : [];
      return { type: 'tool', id, name: definition && nameOf(definition), ownerCredentialWrites: writes };
    });
  }

  private async sourcesOf({ ownerId, configuration }: AgentRecord): Promise<readonly Referred[]> {
    const ids = [...new Set([configuration.source, ...configuration.additionalSources])].filter((id) => id !== '');
    return Promise.all(ids.map(async (id) => referred('source', id, ownerId, await this.sources.byId(id))));
  }

  private async promptOf({ ownerId, configuration: { promptId } }: AgentRecord): Promise<readonly Referred[]> {
    return isId(promptId) ? [referred('prompt', promptId, ownerId, await this.prompts.byId(promptId))] : [];
  }
}

type Found = Readonly<{ ownerId: string; name: string }> | undefined;

const referred = (type: Referred['type'], id: string, ownerId: string, found: Found): Referred => ({
  type,
  id,
  name: found?.ownerId === ownerId ? found.name : undefined,
  ownerCredentialWrites: [],
});

const nameOf = ({ customName, displayName }: Readonly<{ customName: string; displayName: string }>) => customName || displayName;
