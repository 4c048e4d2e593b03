import { CommandHandler } from '@nestjs/cqrs';
import { Blobs } from '../../kernel/blobs.js';
import { Command, type Handler } from '../../kernel/commands.js';
import type { Cause } from '../../kernel/event-sourcing/events.js';
import { Freshness } from '../../kernel/event-sourcing/freshness.js';
import { Streams } from '../../kernel/event-sourcing/streams.js';
import { keepContent } from './artifact-blobs.js';
import { artifact, remove, restore, store, versionOf } from './artifact.decider.js';
import { type ArtifactContent, type ArtifactId, type ArtifactParent, artifactStream } from './artifact.events.js';
import { ArtifactQuota } from './artifact-quota.js';
import { previewOf } from './preview.policy.js';

export type NewArtifact = Readonly<{
  /** Derived by the caller from what makes the artifact, such as a run, a step and the name of the file. */
  artifactId: ArtifactId;
  /** Each edition under the same id is a version. By default an artifact has one edition. */
  edition?: string;
  ownerId: string;
  parent: Partial<ArtifactParent>;
  /** For example `file`, `document`, `data` or `image`. */
  kind: string;
  title: string;
  metadata?: Readonly<Record<string, unknown>>;
  filename: string;
  mimeType: string;
  content: Uint8Array;
  spec?: Readonly<Record<string, unknown>>;
  /** Names and ids of the program that made the artifact and of the run or step it worked in. */
  producedBy: Readonly<Record<string, unknown>>;
}>;

/** The stored version of an artifact. Version 0 means that the artifact has been deleted. */
export type StoredVersion = Readonly<{ artifactId: ArtifactId; version: number; position: bigint | undefined }>;

/** Stores a file for a user. Repeating the command stores nothing twice. @throws Rejection artifact-quota-exceeded */
export class StoreArtifact extends Command<StoredVersion> {
  constructor(
    readonly artifact: NewArtifact,
    readonly cause: Cause,
  ) {
    super();
  }
}

@CommandHandler(StoreArtifact)
export class StoreArtifactHandler implements Handler<StoreArtifact> {
  constructor(
    private readonly streams: Streams,
    private readonly blobs: Blobs,
    private readonly quota: ArtifactQuota,
    private readonly freshness: Freshness,
  ) {}

  /** Stores the content before it appends the event. After a crash in between, a repetition of the command uses the same blob. */
  async execute({ artifact: wanted, cause }: StoreArtifact): Promise<StoredVersion> {
    const { artifactId, edition = artifactId, ownerId, parent, kind, title, metadata = {} } = wanted;
    const stream = artifactStream(artifactId);
    const known = await this.streams.fold(stream, artifact);
    const version = versionOf(known.state, edition);
    if (version !== undefined || known.state.status === 'deleted') {
      return { artifactId, version: version ?? 0, position: known.position };
    }
    await this.quota.require(ownerId, wanted.content.byteLength, known.state.status === 'none');
    const content = await this.keep(wanted, edition);
    const { workflowRunId = null, conversationId = null, messageId = null } = parent;
    const decision = store({
      artifactId,
      ownerId,
      parent: { workflowRunId, conversationId, messageId },
      kind,
      title,
      metadata,
      content,
    });
    const { state, position } = await this.streams.transact(stream, artifact, decision, cause, known);
    if (state.status === 'deleted') await this.blobs.delete(content.blob.sha256);
    // The next check of the quota must count this artifact.
    await this.freshness.reached(['artifacts'], position);
    return { artifactId, version: versionOf(state, edition) ?? 0, position };
  }

  private async keep(wanted: NewArtifact, edition: string): Promise<ArtifactContent> {
    const { artifactId, filename, mimeType, content, spec = null, producedBy } = wanted;
    return {
      edition,
      filename,
      mimeType,
      size: content.byteLength,
      ...(await keepContent(this.blobs, artifactId, edition, content)),
      previewText: previewOf(mimeType, content),
      spec,
      producedBy,
    };
  }
}

/** The owner makes an earlier version the newest. The command returns the new version number. */
export class RestoreArtifact extends Command<Readonly<{ version: number; position: bigint | undefined }>> {
  constructor(
    readonly artifactId: ArtifactId,
    readonly ownerId: string,
    readonly version: number,
    readonly cause: Cause,
  ) {
    super();
  }
}

@CommandHandler(RestoreArtifact)
export class RestoreArtifactHandler implements Handler<RestoreArtifact> {
  constructor(private readonly streams: Streams) {}

  async execute({ artifactId, ownerId, version, cause }: RestoreArtifact) {
    const decision = restore(ownerId, version);
    const { state, position } = await this.streams.transact(artifactStream(artifactId), artifact, decision, cause);
    return { version: state.versions.length, position };
  }
}

/** The owner deletes the artifact, or it is deleted with its parent. */
export class DeleteArtifact extends Command<bigint | undefined> {
  constructor(
    readonly artifactId: ArtifactId,
    readonly ownerId: string,
    readonly cause: Cause,
  ) {
    super();
  }
}

@CommandHandler(DeleteArtifact)
export class DeleteArtifactHandler implements Handler<DeleteArtifact> {
  constructor(private readonly streams: Streams) {}

  async execute({ artifactId, ownerId, cause }: DeleteArtifact): Promise<bigint | undefined> {
    return (await this.streams.transact(artifactStream(artifactId), artifact, remove(ownerId), cause)).position;
  }
}
