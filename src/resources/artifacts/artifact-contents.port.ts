import type { ArtifactId } from './artifact.events.js';

export type ArtifactFile = Readonly<{ filename: string; mimeType: string; content: Uint8Array }>;

/** What is in artifacts, for the steps of a workflow that are given some. */
export abstract class ArtifactContents {
  /** The newest version; undefined where the user has no such artifact. @throws BlobsUnavailable */
  abstract newest(artifactId: ArtifactId, ownerId: string): Promise<ArtifactFile | undefined>;
}
