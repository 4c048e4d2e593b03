import type { BlobRef } from '../../kernel/blobs.js';
import type { Event } from '../../kernel/event-sourcing/events.js';

export type ArtifactId = string;

/** What produced an artifact. A caller who may see the parent may see the artifact. The artifact is deleted with its parent. */
export type ArtifactParent = Readonly<{
  workflowRunId: string | null;
  conversationId: string | null;
  messageId: string | null;
}>;

/** One content of an artifact. `blob` holds the content behind a header that makes the blob's hash unique to this edition. */
export type ArtifactContent = Readonly<{
  /** Names what made this content, such as a step of a run. If the same step makes it again, it is stored once. */
  edition: string;
  filename: string;
  mimeType: string;
  size: number;
  /** The hash of the content without the header. */
  sha256: string;
  blob: BlobRef;
  /** The beginning of a text content. Null for other contents. */
  previewText: string | null;
  /** The specification that the content was generated from, if any. */
  spec: Readonly<Record<string, unknown>> | null;
  producedBy: Readonly<Record<string, unknown>>;
}>;

/** A file was stored for a user as version 1 of a new artifact. */
export type ArtifactCreated = Event<
  'ArtifactCreated',
  {
    artifactId: ArtifactId;
    ownerId: string;
    parent: ArtifactParent;
    kind: string;
    title: string;
    metadata: Readonly<Record<string, unknown>>;
    content: ArtifactContent;
  }
>;
/** A new content of the file was stored. */
export type ArtifactVersionAdded = Event<
  'ArtifactVersionAdded',
  { artifactId: ArtifactId; version: number; content: ArtifactContent }
>;
/** An earlier version became the newest. The new `version` has the content of version `restored`. */
export type ArtifactVersionRestored = Event<
  'ArtifactVersionRestored',
  { artifactId: ArtifactId; version: number; restored: number; content: ArtifactContent }
>;
/** The owner deleted the artifact, or its parent was deleted. The blobs are deleted after this event. */
export type ArtifactDeleted = Event<'ArtifactDeleted', { artifactId: ArtifactId; ownerId: string; blobs: readonly string[] }>;

export type ArtifactEvent = ArtifactCreated | ArtifactVersionAdded | ArtifactVersionRestored | ArtifactDeleted;

export const artifactStream = (artifactId: ArtifactId): string => `artifact-${artifactId}`;
