import { NO_GRANTS } from '../../../../test/support/no-grants.js';
import { describe, expect, it } from '@jest/globals';
import { callContext, callTool, usedTool } from '../../../../test/support/tool-calls.js';
import type { SourceQueries, SourceRecord } from '../../../../projections/sources/sources.queries.js';
import { type RetrievedChunk, Search, type SearchRequest } from '../../sources/chunks/search.port.js';
import { ToolFailed } from '../toolbox/tool-kind.port.js';
import {
  FILES_MAX,
  InternalSearchTool,
  QUERY_CHARACTERS_MAX,
  SEARCH_CHARACTERS_MAX,
  SEARCH_CHUNKS_MAX,
} from './internal-search-tool.js';
import { ThinkTool } from './think-tool.js';

const chunk = (text: string): RetrievedChunk => ({
  text,
  title: 'Tea',
  source: 'Drinks',
  filename: 'tea.md',
  sourceId: 's1',
  score: 1,
  tokens: 1,
});

class SearchForTests extends Search {
  readonly asked: SearchRequest[] = [];
  failedSources: readonly string[] = [];
  constructor(private readonly found: readonly RetrievedChunk[] | Error) {
    super();
  }
  async search(request: SearchRequest) {
    this.asked.push(request);
    if (this.found instanceof Error) throw this.found;
    return Promise.resolve({ chunks: this.found, failedSources: this.failedSources });
  }
}

const record = (id: string, ownerId: string, filenames: readonly string[]) =>
  ({
    id,
    ownerId,
    name: `Source ${id}`,
    files: filenames.map((filename) => ({ filename, sha256: '', size: 7 })),
  }) as unknown as SourceRecord;

const searching = (search: Search, records: readonly SourceRecord[] = []) =>
  new InternalSearchTool(
    search,
    {
      among: async (ids: readonly string[]) => Promise.resolve(records.filter(({ id }) => ids.includes(id))),
    } as unknown as SourceQueries,
    NO_GRANTS,
  );

const context = callContext({ userId: 'visitor', sources: [{ id: 's1', chunks: 3 }, { id: 's2' }] });

it('the think tool returns a thought unchanged', async () => {
  expect(await callTool(new ThinkTool(), 'reason', { thought: 'First tea.' })).toBe('First tea.');
  await expect(callTool(new ThinkTool(), 'reason', {})).rejects.toThrow(ToolFailed);
});

describe('a search', () => {
  it("uses the sources of the turn on behalf of the tool's owner", async () => {
    const search = new SearchForTests([chunk('Green.')]);
    const found = await callTool(searching(search), 'search', { query: ' tea ' }, { context });
    expect(search.asked).toEqual([{ sources: context.sources, question: 'tea', chunks: SEARCH_CHUNKS_MAX, ownerId: 'alice' }]);
    expect(found).toEqual({ sources: [{ text: 'Green.', title: 'Tea', source: 'Drinks', filename: 'tea.md' }] });
  });
  it('names the sources that it could not search, and says that nothing was found', async () => {
    const search = new SearchForTests([]);
    search.failedSources = ['s2'];
    expect(await callTool(searching(search), 'search', { query: 'tea' }, { context })).toEqual({
      sources: [],
      message: 'Nothing was found. Try other words.',
      not_searched: ['s2'],
    });
  });
  it('limits the number and the size of its results, and the length of its query', async () => {
    const textsFor = async (texts: readonly string[], query = 'tea') => {
      const search = new SearchForTests(texts.map(chunk));
      const { sources } = (await callTool(searching(search), 'search', { query }, { context })) as {
        sources: { text: string }[];
      };
      expect(search.asked[0]!.question.length).toBeLessThanOrEqual(QUERY_CHARACTERS_MAX);
      return sources.map(({ text }) => text.length);
    };
    expect(await textsFor(Array.from({ length: 30 }, () => 'x'))).toHaveLength(SEARCH_CHUNKS_MAX);
    expect(await textsFor(['x'.repeat(30_000), 'y'.repeat(10_000), 'z'])).toEqual([30_000, 10_000]);
    expect(await textsFor(['x'.repeat(SEARCH_CHARACTERS_MAX + 1), 'y'], 'q'.repeat(10_000))).toEqual([SEARCH_CHARACTERS_MAX]);
  });
  it('fails without revealing details of the error', async () => {
    const search = new SearchForTests(new Error('connection to 10.0.0.8 refused'));
    const failure = callTool(searching(search), 'search', { query: 'tea' }, { context });
    await expect(failure).rejects.toThrow(/^The sources could not be searched right now\./);
    await expect(callTool(searching(search), 'search', { query: ' ' }, { context })).rejects.toThrow(/`query` is empty/);
  });
});

describe('the list of files', () => {
  it('shows only those sources of the turn that the owner may use', async () => {
    const tool = searching(new SearchForTests([]), [
      record('s1', 'alice', ['a.md', 'b.md']),
      record('s2', 'mallory', ['secret.md']),
      record('s3', 'alice', ['not-of-this-turn.md']),
    ]);
    expect(await callTool(tool, 'list_files', {}, { context, tool: usedTool(tool) })).toEqual({
      files: [
        { source: 'Source s1', filename: 'a.md', bytes: 7 },
        { source: 'Source s1', filename: 'b.md', bytes: 7 },
      ],
    });
  });
  it('has a maximum length', async () => {
    const tool = searching(new SearchForTests([]), [
      record(
        's1',
        'alice',
        Array.from({ length: FILES_MAX + 1 }, (_, index) => `${index}`),
      ),
    ]);
    const { files, truncated } = (await callTool(tool, 'list_files', {}, { context })) as {
      files: unknown[];
      truncated: boolean;
    };
    expect([files.length, truncated]).toEqual([FILES_MAX, true]);
  });
});
