import { Injectable } from '@nestjs/common';
import { SourceQueries } from '../../../../projections/sources/sources.queries.js';
import { Reaching } from '../../identity/reaching.js';
import { Search, sourceOf } from '../../sources/chunks/search.port.js';
import type { ActionDefinition } from '../toolbox/tool.events.js';
import { type CallContext, ToolFailed, ToolKind, type UsedTool } from '../toolbox/tool-kind.port.js';
import { type CallArguments, filledAction, textArgument, unknownAction } from '../toolbox/call-arguments.policy.js';
import { cutText } from '../../../kernel/cut-text.js';

/** The limits of one search. A model can search again. */
export const SEARCH_CHUNKS_MAX = 10;
export const SEARCH_CHARACTERS_MAX = 40_000;
export const QUERY_CHARACTERS_MAX = 2_000;

export const FILES_MAX = 200;

const ACTIONS: readonly ActionDefinition[] = [
  filledAction('search', 'Searches the sources of this conversation and returns the passages that fit best.', 'read', {
    query: { type: 'string', description: 'A question, or words from the wanted passage.' },
  }),
  filledAction('list_files', 'Lists the sources of this conversation with their files.', 'read', {}),
];

/** Lets a model search in the sources that its turn may search, and in no others. */
@Injectable()
export class InternalSearchTool extends ToolKind {
  override readonly name = 'internal_search';
  override readonly displayName = 'Search';
  override readonly description = 'Searches the sources of the conversation.';
  override readonly internal = true;
  override readonly configFields = {};
  override readonly actions = ACTIONS;

  constructor(
    private readonly searching: Search,
    private readonly sources: SourceQueries,
    private readonly reaching: Reaching,
  ) {
    super();
  }

  run({ name }: ActionDefinition, args: CallArguments, { ownerId }: UsedTool, { sources }: CallContext): Promise<unknown> {
    switch (name) {
      case 'search':
        return this.search(textArgument(args, 'query').trim(), ownerId, sources);
      case 'list_files':
        return this.files(
          ownerId,
          sources.map(({ id }) => id),
        );
      default:
        throw unknownAction(name);
    }
  }

  private async search(query: string, ownerId: string, sources: CallContext['sources']) {
    if (query === '') throw new ToolFailed('The argument `query` is empty: say what is looked for.');
    const question = query.slice(0, QUERY_CHARACTERS_MAX);
    const { chunks, failedSources } = await this.searching
      .search({ sources, question, chunks: SEARCH_CHUNKS_MAX, ownerId })
      .catch((cause: unknown) => {
        throw new ToolFailed('The sources could not be searched right now. Try again, or go on without.', { cause });
      });
    return {
      sources: withinBounds(chunks.map(sourceOf)),
      ...(chunks.length === 0 && { message: 'Nothing was found. Try other words.' }),
      ...(failedSources.length > 0 && { not_searched: failedSources }),
    };
  }

  /** Omits deleted sources, and sources of other users without a grant. */
  private async files(ownerId: string, ids: readonly string[]) {
    const records = await this.sources.among([...new Set(ids)].slice(0, FILES_MAX));
    const own = await this.reaching.usableAmong(ownerId, records, 'sources');
    const files = own.flatMap(({ name, files }) =>
      files.length > 0 ? files.map(({ filename, size }) => ({ source: name, filename, bytes: size })) : [{ source: name }],
    );
    return { files: files.slice(0, FILES_MAX), ...(files.length > FILES_MAX && { truncated: true }) };
  }
}

/**
 * Limits the number of passages and their characters. Passages are kept whole, but the first is truncated if it is too long by
 * itself.
 */
function withinBounds<S extends Readonly<{ text: string }>>(sources: readonly S[]): readonly S[] {
  let characters = 0;
  const fitting = sources.slice(0, SEARCH_CHUNKS_MAX).filter(({ text }, index) => {
    characters += text.length;
    return index === 0 || characters <= SEARCH_CHARACTERS_MAX;
  });
  return fitting.map((source) => ({ ...source, text: cutText(source.text, SEARCH_CHARACTERS_MAX) }));
}
