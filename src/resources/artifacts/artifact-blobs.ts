import { createHash } from 'node:crypto';
import { Readable, Transform } from 'node:stream';
import type { Blobs } from '../../kernel/blobs.js';
import type { ArtifactContent, ArtifactId } from './artifact.events.js';

/** The header is the SHA-256 of the artifact's id and the edition. */
const HEADER_BYTES = 32;
/** Hashing a content of 50 MB at once would hold up the process for a quarter of a second. */
export const PIECE_BYTES = 1024 * 1024;

/**
 * Stores a content behind a header that depends on the artifact and the edition. Equal contents of two artifacts become two blobs,
 * so each can be deleted with its artifact. Storing the same edition twice yields one blob.
 */
export async function keepContent(
  blobs: Blobs,
  artifactId: ArtifactId,
  edition: string,
  content: Uint8Array,
): Promise<Pick<ArtifactContent, 'blob' | 'sha256'>> {
  const hash = createHash('sha256');
  const pieces = function* () {
    yield createHash('sha256').update(`${artifactId} ${edition}`).digest();
    for (let from = 0; from < content.byteLength; from += PIECE_BYTES) {
      const piece = content.subarray(from, from + PIECE_BYTES);
      hash.update(piece);
      yield piece;
    }
  };
  const blob = await blobs.put(Readable.from(pieces()));
  return { blob, sha256: hash.digest('hex') };
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
