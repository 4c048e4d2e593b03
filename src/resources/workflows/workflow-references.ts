import { Injectable } from '@nestjs/common';
import { SourceQueries } from '../../../projections/sources/sources.queries.js';
import { ToolQueries } from '../../../projections/tools/tools.queries.js';
import { Reaching } from '../identity/reaching.js';
import { Rejection } from '../../kernel/rejection.js';
import { ownerCredentialWrites } from '../tools/toolbox/access.policy.js';
import { defaultToolDisplayName, defaultToolOf } from '../tools/defaults/default-tools.policy.js';
import { type NodeReferences, referencesIn } from './node-references.policy.js';
import type { WorkflowGraph } from './workflow-graph.policy.js';

/** A tool or source that a node of a workflow uses. `name` is undefined if it was deleted or does not belong to the owner. */
export type Referred = Readonly<{
  type: 'tool' | 'source';
  id: string;
  name: string | undefined;
  displayName: string;
  /** It is a default tool, which every user has. */
  isDefault: boolean;
  ownerCredentialWrites: readonly string[];
}>;

const NOTHING: NodeReferences = { tools: [], sources: [] };

/** Looks up the tools and sources that the nodes of a workflow use. */
@Injectable()
export class WorkflowReferences {
  constructor(
    private readonly tools: ToolQueries,
    private readonly sources: SourceQueries,
    private readonly reaching: Reaching,
  ) {}

  async of(ownerId: string, graph: WorkflowGraph): Promise<readonly Referred[]> {
    const { tools, sources } = referencesIn(graph);
    const [own, found] = await Promise.all([
      this.tools.ownedAmong(ownerId, tools),
      Promise.all(sources.map((id) => this.sources.byId(id))),
    ]);
    const definitions = new Map(own.map(({ id, definition }) => [id, definition]));
    return [
      ...tools.map((id): Referred => {
        const kind = defaultToolOf(id);
        if (kind !== undefined)
          return { ...bare('tool', id), name: kind, displayName: defaultToolDisplayName(kind), isDefault: true };
        const definition = definitions.get(id);
        if (!definition) return bare('tool', id);
        const { name, customName, displayName } = definition;
        const writes = ownerCredentialWrites(definition);
        return { ...bare('tool', id), name, displayName: customName || displayName, ownerCredentialWrites: writes };
      }),
      ...sources.map((id, at): Referred => {
        const source = found[at];
        const name = source?.ownerId === ownerId ? source.name : undefined;
        return { ...bare('source', id), name, displayName: name ?? '' };
      }),
    ];
  }

  /**
   * Tools and sources that the previous graph used are always accepted, even if the owner can no longer see them. New ones must
   * belong to the owner, and the editor must be allowed to use them. @throws Rejection source-not-accessible, tool-not-accessible
   */
  async refuseInaccessible(
    ownerId: string,
    graph: WorkflowGraph,
    before: WorkflowGraph | undefined,
    editorId = ownerId,
  ): Promise<void> {
    const kept = before ? referencesIn(before) : NOTHING;
    const { tools, sources } = referencesIn(graph);
    const newSources = sources.filter((id) => !kept.sources.includes(id));
    const newTools = tools.filter((id) => !kept.tools.includes(id) && defaultToolOf(id) === undefined);
    const ownSources = newSources.length > 0 ? await this.sources.ownedAmong(ownerId, newSources) : [];
    const ofOwner = ownSources.map((id) => ({ id, ownerId }));
    const sourcesToUse = await this.reaching.usableAmong(editorId, ofOwner, 'sources');
    if (sourcesToUse.length < newSources.length) throw inaccessible('source-not-accessible', 'Source not accessible');
    const ownTools = await this.tools.ownedAmong(ownerId, newTools);
    const toolsToUse = await this.reaching.usableAmong(editorId, ownTools, 'tools');
    if (toolsToUse.length < newTools.length) throw inaccessible('tool-not-accessible', 'Tool not accessible');
  }
}

const bare = (type: Referred['type'], id: string): Referred => ({
  type,
  id,
  name: undefined,
  displayName: '',
  isDefault: false,
  ownerCredentialWrites: [],
});

const inaccessible = (code: string, text: string): Rejection => new Rejection(code, text, { error: text });
