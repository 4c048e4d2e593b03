import type { ArtifactId } from './artifact.events.js';

export type ArtifactFile = Readonly<{ filename: string; mimeType: string; content: Uint8Array }>;

/** Reads the contents of artifacts for workflow steps that take artifacts as input. */
export abstract class ArtifactContents {
  /**
   * The newest version, or undefined if the user has no such artifact. At most its first `bytesMax` bytes are read.
   * @throws BlobsUnavailable
   */
  abstract newest(artifactId: ArtifactId, ownerId: string, bytesMax: number): Promise<ArtifactFile | undefined>;
}
