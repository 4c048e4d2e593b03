import type { Readable } from 'node:stream';
import { Injectable } from '@nestjs/common';
import { BlobMissing, Blobs } from '../../kernel/blobs.js';
import { Streams } from '../../kernel/event-sourcing/streams.js';
import { contentOf } from './artifact-blobs.js';
import { artifact } from './artifact.decider.js';
import { artifactStream } from './artifact.events.js';
import { ArtifactContents, type ArtifactFile } from './artifact-contents.port.js';

/** Reads artifacts from their streams, so that a step finds what the step before it has just stored. */
@Injectable()
export class StoredArtifactContents extends ArtifactContents {
  constructor(
    private readonly streams: Streams,
    private readonly blobs: Blobs,
  ) {
    super();
  }

  async newest(artifactId: string, ownerId: string, bytesMax: number): Promise<ArtifactFile | undefined> {
    const { state } = await this.streams.fold(artifactStream(artifactId), artifact);
    const newest = state.versions.at(-1);
    if (state.ownerId !== ownerId || !newest) return undefined;
    const { filename, mimeType } = newest;
    const content = await contentOf(this.blobs, newest)
      .then((stored) => startOf(stored, bytesMax))
      .catch(asGone);
    return content && { filename, mimeType, content };
  }
}

/** The first bytes of a content. The rest is not read. */
async function startOf(content: Readable, bytesMax: number): Promise<Buffer> {
  const pieces: Buffer[] = [];
  let bytes = 0;
  for await (const piece of content as AsyncIterable<Buffer>) {
    pieces.push(piece);
    bytes += piece.length;
    if (bytes >= bytesMax) break;
  }
  return Buffer.concat(pieces).subarray(0, bytesMax);
}

/** A missing blob means that the artifact was deleted after its stream was read. */
function asGone(error: unknown): undefined {
  if (!(error instanceof BlobMissing)) throw error;
}
