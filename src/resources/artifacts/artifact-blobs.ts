import { createHash } from 'node:crypto';
import { Readable, Transform } from 'node:stream';
import type { BlobRef, Blobs } from '../../kernel/blobs.js';
import type { ArtifactContent, ArtifactId } from './artifact.events.js';

/** The header is the SHA-256 of the artifact's id and the edition. */
const HEADER_BYTES = 32;

/**
 * Stores a content behind a header that depends on the artifact and the edition. Equal contents of two artifacts become two blobs,
 * so each can be deleted with its artifact. Storing the same edition twice yields one blob.
 */
export async function keepContent(blobs: Blobs, artifactId: ArtifactId, edition: string, content: Uint8Array): Promise<BlobRef> {
  const header = createHash('sha256').update(`${artifactId} ${edition}`).digest();
  return blobs.put(Readable.from([header, content]));
}

/** @throws BlobMissing, BlobsUnavailable */
export async function contentOf(blobs: Blobs, { blob }: Pick<ArtifactContent, 'blob'>): Promise<Readable> {
  let left = HEADER_BYTES;
  const withoutHeader = new Transform({
    transform(chunk: Buffer, _, done) {
      const dropped = Math.min(left, chunk.length);
      left -= dropped;
      done(null, dropped === chunk.length ? undefined : chunk.subarray(dropped));
    },
  });
  const stored = await blobs.get(blob.sha256);
  stored.on('error', (error) => withoutHeader.destroy(error));
  withoutHeader.on('close', () => stored.destroy());
  return stored.pipe(withoutHeader);
}
