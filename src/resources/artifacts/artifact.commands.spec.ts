import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { beforeEach, describe, expect, it } from '@jest/globals';
import type { ArtifactQueries } from '../../../projections/artifacts/artifacts.queries.js';
import { InMemoryBlobs } from '../../../test/support/in-memory-blobs.js';
import { InMemoryEventStore } from '../../../test/support/in-memory-event-store.js';
import { cause } from '../../../test/support/turns.js';
import { Streams } from '../../kernel/event-sourcing/streams.js';
import { systemTiming } from '../../platform/system-timing.js';
import { contentOf, PIECE_BYTES } from './artifact-blobs.js';
import {
  DeleteArtifact,
  DeleteArtifactHandler,
  type NewArtifact,
  StoreArtifact,
  StoreArtifactHandler,
} from './artifact.commands.js';
import { artifact } from './artifact.decider.js';
import { artifactStream } from './artifact.events.js';
import { ArtifactQuota } from './artifact-quota.js';
import { StoredArtifactContents } from './stored-artifact-contents.js';
import { type ArtifactLimits, ArtifactsOptions } from './artifacts-options.js';

let streams: Streams;
let blobs: InMemoryBlobs;
beforeEach(() => {
  streams = new Streams(new InMemoryEventStore(), systemTiming);
  blobs = new InMemoryBlobs();
});

const file = (artifactId: string, content = 'Tea'): NewArtifact => ({
  artifactId,
  ownerId: 'ann',
  parent: { workflowRunId: 'r1' },
  kind: 'file',
  title: 'tea.txt',
  filename: 'tea.txt',
  mimeType: 'text/plain',
  content: new Uint8Array(Buffer.from(content)),
  producedBy: { node_id: 'n1' },
});
const kept = (artifacts: number, bytes: number) =>
  ({ usageOf: () => Promise.resolve({ artifacts, bytes }) }) as unknown as ArtifactQueries;
const storing = (limits: Partial<ArtifactLimits> = {}, queries = kept(0, 0)) => {
  const options = new ArtifactsOptions({ versionBytesMax: 0, perUserMax: 0, bytesPerUserMax: 0, ...limits }, undefined);
  const handler = new StoreArtifactHandler(streams, blobs, new ArtifactQuota(queries, options), {
    reached: () => Promise.resolve(true),
  });
  return (wanted: NewArtifact) => handler.execute(new StoreArtifact(wanted, cause));
};
const stateOf = async (artifactId: string) => (await streams.fold(artifactStream(artifactId), artifact)).state;

describe('a stored artifact', () => {
  it('is read back unchanged', async () => {
    await storing()(file('a1', 'Tea ☕'));
    const [version] = (await stateOf('a1')).versions;
    expect(version).toMatchObject({ size: 7, previewText: 'Tea ☕', blob: { size: 39 } });
    expect(await text(await contentOf(blobs, version!))).toBe('Tea ☕');
  });

  it('is hashed and written in pieces, so that a large one does not hold up the process', async () => {
    const sizes: number[] = [];
    const put = blobs.put.bind(blobs);
    blobs.put = async (bytes) => {
      const pieces = (await bytes.toArray()) as Uint8Array[];
      sizes.push(...pieces.map(({ length }) => length));
      return put(Readable.from(pieces));
    };
    const content = 'x'.repeat(2 * PIECE_BYTES + 1);
    await storing()(file('a1', content));
    const [version] = (await stateOf('a1')).versions;
    expect(version!.sha256).toBe(createHash('sha256').update(content).digest('hex'));
    expect(sizes).toEqual([32, PIECE_BYTES, PIECE_BYTES, 1]);
    expect(await text(await contentOf(blobs, version!))).toBe(content);
  });

  it('is read only up to a number of bytes, and only for its owner', async () => {
    await storing()(file('a1', 'Tea ☕'));
    const contents = new StoredArtifactContents(streams, blobs);
    const newest = async (ownerId: string, bytesMax: number) =>
      (await contents.newest('a1', ownerId, bytesMax))?.content.toString();
    expect([await newest('ann', 3), await newest('ann', 100), await newest('bob', 3)]).toEqual(['Tea', 'Tea ☕', undefined]);
  });

  it('is stored once when it is stored repeatedly or concurrently under one id', async () => {
    const both = await Promise.all([storing()(file('a1')), storing()(file('a1'))]);
    const again = await storing()(file('a1'));
    expect([...both, again].map(({ version }) => version)).toEqual([1, 1, 1]);
    expect((await stateOf('a1')).versions).toHaveLength(1);
  });

  it('gets the next version for another edition', async () => {
    const store = storing();
    await store({ ...file('a1'), edition: 'step 1' });
    expect(await store({ ...file('a1', 'Cake'), edition: 'step 2' })).toMatchObject({ version: 2 });
    expect(await store({ ...file('a1'), edition: 'step 1' })).toMatchObject({ version: 1 });
  });

  it('does not share its blob with an artifact of the same content', async () => {
    const store = storing();
    await store(file('a1'));
    await store(file('a2'));
    const [one, other] = [(await stateOf('a1')).versions[0]!, (await stateOf('a2')).versions[0]!];
    expect(one.sha256).toBe(other.sha256);
    expect(one.blob.sha256).not.toBe(other.blob.sha256);
  });

  it('is not stored again after it was deleted', async () => {
    const store = storing();
    await store(file('a1'));
    await new DeleteArtifactHandler(streams).execute(new DeleteArtifact('a1', 'ann', cause));
    expect(await store(file('a1'))).toMatchObject({ version: 0 });
  });
});

describe('the artifact quota', () => {
  const refusal = { code: 'artifact-quota-exceeded' };
  it('limits the bytes of a version', async () => {
    await expect(storing({ versionBytesMax: 2 })(file('a1'))).rejects.toMatchObject(refusal);
    await expect(storing({ versionBytesMax: 3 })(file('a1'))).resolves.toMatchObject({ version: 1 });
  });

  it('limits the artifacts of a user, not counting further versions', async () => {
    await expect(storing({ perUserMax: 5 }, kept(5, 0))(file('a1'))).rejects.toMatchObject(refusal);
    await storing({ perUserMax: 5 }, kept(4, 0))(file('a1'));
    const another = { ...file('a1'), edition: 'another' };
    await expect(storing({ perUserMax: 5 }, kept(5, 0))(another)).resolves.toMatchObject({ version: 2 });
  });

  it('limits the bytes of all artifacts of a user', async () => {
    await expect(storing({ bytesPerUserMax: 10 }, kept(1, 8))(file('a1'))).rejects.toMatchObject(refusal);
    await expect(storing({ bytesPerUserMax: 10 }, kept(1, 7))(file('a1'))).resolves.toMatchObject({ version: 1 });
  });

  it('stores nothing of a refused artifact', async () => {
    await storing({ versionBytesMax: 1 })(file('a1')).catch(() => undefined);
    expect((await stateOf('a1')).status).toBe('none');
  });

  it('is unlimited when it is 0', async () => {
    await expect(storing({}, kept(1e6, 1e15))(file('a1'))).resolves.toMatchObject({ version: 1 });
  });
});
