import type { BlobRef } from '../../kernel/blobs.js';
import type { Event } from '../../kernel/event-sourcing/events.js';

export type ArtifactId = string;

/** What an artifact came out of. Who may see the parent may see the artifact, and it is deleted with its parent. */
export type ArtifactParent = Readonly<{
  workflowRunId: string | null;
  conversationId: string | null;
  messageId: string | null;
}>;

/** One content of an artifact. `blob` holds the content after a header of its own, so that no other blob has its name. */
export type ArtifactContent = Readonly<{
  /** Names what made this content, such as a step of a run: made again by the same, it is kept once. */
  edition: string;
  filename: string;
  mimeType: string;
  size: number;
  /** Of the content alone. */
  sha256: string;
  blob: BlobRef;
  /** How the content begins, where it is text. */
  previewText: string | null;
  /** What the content was generated from, where it was. */
  spec: Readonly<Record<string, unknown>> | null;
  producedBy: Readonly<Record<string, unknown>>;
}>;

/** A file was kept for a user: its first version. */
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
/** The file was written anew. */
export type ArtifactVersionAdded = Event<
  'ArtifactVersionAdded',
  { artifactId: ArtifactId; version: number; content: ArtifactContent }
>;
/** An earlier version became the newest: `version` has the content of `restored`. */
export type ArtifactVersionRestored = Event<
  'ArtifactVersionRestored',
  { artifactId: ArtifactId; version: number; restored: number; content: ArtifactContent }
>;
/** Its owner threw it away, or its parent was deleted; the blobs are deleted after that. */
export type ArtifactDeleted = Event<'ArtifactDeleted', { artifactId: ArtifactId; ownerId: string; blobs: readonly string[] }>;

export type ArtifactEvent = ArtifactCreated | ArtifactVersionAdded | ArtifactVersionRestored | ArtifactDeleted;

export const artifactStream = (artifactId: ArtifactId): string => `artifact-${artifactId}`;
