import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type ArtifactContent, type ArtifactEvent, artifactStream } from '../../src/resources/artifacts/artifact.events.js';
import { type TestDatabase, testDatabase } from '../../test/support/postgres-for-tests.js';
import { projecting } from '../../test/support/projecting.js';
import { ReadModels } from '../read-models.js';
import { artifacts } from './artifacts.projection.js';
import { ArtifactQueries } from './artifacts.queries.js';

const content = (edition: string, size = 5): ArtifactContent => ({
  edition,
  filename: 'n\0ul.txt',
  mimeType: 'text/plain',
  size,
  sha256: edition,
  blob: { sha256: `blob-${edition}`, size: size + 32 },
  previewText: 'Nul\0',
  spec: null,
  producedBy: { node_id: 'n\0' },
});
const created = (
  artifactId: string,
  ownerId: string,
  conversationId: string | null = null,
  workflowRunId = 'r1',
): ArtifactEvent => ({
  type: 'ArtifactCreated',
  data: {
    artifactId,
    ownerId,
    parent: { workflowRunId, conversationId, messageId: null },
    kind: 'file',
    title: artifactId,
    metadata: { z: 1, a: 2 },
    content: content(`${artifactId}-1`),
  },
});

let database: TestDatabase;
let model: Awaited<ReturnType<typeof projecting>>;
let queries: ArtifactQueries;
const given = (artifactId: string, ...events: ArtifactEvent[]) => model.given(artifactStream(artifactId), events);
const idsOf = (records: readonly { id: string }[]) => records.map(({ id }) => id);

beforeAll(async () => {
  database = await testDatabase();
  model = await projecting(artifacts, database.sql);
  queries = new ArtifactQueries(new ReadModels(database.sql));
  await given('a1', created('a1', 'alice', 'c1'));
  await given('a2', created('a2', 'alice', null, 'r2'));
  await given('b1', created('b1', 'bob', 'c1'));
});
afterAll(() => database.close());

describe('artifacts', () => {
  it('are listed for their owner: all of them, or those of a conversation or a workflow run', async () => {
    expect(idsOf(await queries.ownedBy('alice'))).toEqual(['a1', 'a2']);
    expect(idsOf(await queries.ownedBy('alice', { conversationId: 'c1' }))).toEqual(['a1']);
    expect(idsOf(await queries.ownedBy('alice', { workflowRunId: 'r2' }))).toEqual(['a2']);
    expect(idsOf(await queries.ofConversation('c1')).sort()).toEqual(['a1', 'b1']);
  });

  it('have versions, and a restored version takes no additional space', async () => {
    await given(
      'a1',
      { type: 'ArtifactVersionAdded', data: { artifactId: 'a1', version: 2, content: content('a1-2', 7) } },
      { type: 'ArtifactVersionRestored', data: { artifactId: 'a1', version: 3, restored: 1, content: content('a1-1') } },
    );
    expect(await queries.byId('a1')).toMatchObject({ currentVersion: 3, metadata: { z: 1, a: 2 } });
    expect((await queries.versionsOf('a1')).map(({ version, sha256 }) => [version, sha256])).toEqual([
      [1, 'a1-1'],
      [2, 'a1-2'],
      [3, 'a1-1'],
    ]);
    expect(await queries.version('a1', 2)).toMatchObject({
      size: 7,
      blob: { sha256: 'blob-a1-2', size: 39 },
      previewText: 'Nul\uFFFD',
    });
    expect(await queries.version('a1', 4)).toBeUndefined();
    expect(await queries.usageOf('alice')).toEqual({ artifacts: 2, bytes: 17 });
    expect(await queries.usageOf('nobody')).toEqual({ artifacts: 0, bytes: 0 });
  });

  it('are removed with their versions when they are deleted', async () => {
    await given('a2', { type: 'ArtifactDeleted', data: { artifactId: 'a2', ownerId: 'alice', blobs: ['blob-a2-1'] } });
    expect([await queries.byId('a2'), await queries.versionsOf('a2')]).toEqual([undefined, []]);
    expect(await queries.usageOf('alice')).toEqual({ artifacts: 1, bytes: 12 });
  });

  it('are unchanged by repeated events and the same after a rebuild', async () => {
    const before = await queries.byId('a1');
    await model.again();
    expect(await queries.byId('a1')).toEqual(before);
    await model.expectSameAfterRebuild();
  });
});
