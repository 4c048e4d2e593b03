import type { Row } from 'postgres';
import { Queries } from '../read-models.js';

export type ArtifactRecord = Readonly<{
  id: string;
  ownerId: string;
  conversationId: string | null;
  workflowRunId: string | null;
  messageId: string | null;
  kind: string;
  title: string;
  metadata: unknown;
  currentVersion: number;
  createdAt: Date;
  updatedAt: Date;
}>;

export type ArtifactVersionRecord = Readonly<{
  version: number;
  filename: string;
  mimeType: string;
  size: number;
  sha256: string;
  blob: Readonly<{ sha256: string; size: number }>;
  previewText: string | null;
  producedBy: unknown;
  spec: unknown;
  createdAt: Date;
}>;

/** The conversation or workflow run whose artifacts are listed. Without either, all of the user's artifacts are listed. */
export type ArtifactFilter = Readonly<{ conversationId?: string; workflowRunId?: string }>;

export class ArtifactQueries extends Queries {
  async byId(artifactId: string): Promise<ArtifactRecord | undefined> {
    const rows = await this.sql`select * from artifacts.artifact where artifact_id = ${artifactId}`;
    return rows.map(asArtifact)[0];
  }

  /** A user's artifacts, oldest first. */
  async ownedBy(ownerId: string, { conversationId, workflowRunId }: ArtifactFilter = {}): Promise<readonly ArtifactRecord[]> {
    const { sql } = this;
    const rows = await sql`
      select * from artifacts.artifact where owner_id = ${ownerId}
        ${conversationId === undefined ? sql`` : sql`and conversation_id = ${conversationId}`}
        ${workflowRunId === undefined ? sql`` : sql`and workflow_run_id = ${workflowRunId}`}
      order by created_at, artifact_id`;
    return rows.map(asArtifact);
  }

  /** The artifacts of a conversation, of all owners, oldest first. */
  async ofConversation(conversationId: string): Promise<readonly ArtifactRecord[]> {
    const rows = await this.sql`
      select * from artifacts.artifact where conversation_id = ${conversationId} order by created_at, artifact_id`;
    return rows.map(asArtifact);
  }

  /** The versions of an artifact, oldest first. With `until`, only those that existed at that time. */
  async versionsOf(artifactId: string, until?: Date): Promise<readonly ArtifactVersionRecord[]> {
    const rows = await this.sql`
      select * from artifacts.version where artifact_id = ${artifactId} ${this.madeBy(until)} order by version`;
    return rows.map(asVersion);
  }

  async version(artifactId: string, version: number, until?: Date): Promise<ArtifactVersionRecord | undefined> {
    const rows = await this.sql`
      select * from artifacts.version where artifact_id = ${artifactId} and version = ${version} ${this.madeBy(until)}`;
    return rows.map(asVersion)[0];
  }

  private madeBy(until: Date | undefined) {
    const { sql } = this;
    return until === undefined ? sql`` : sql`and created_at <= ${until}`;
  }

  /** The number and the total size of a user's artifacts. */
  async usageOf(ownerId: string): Promise<Readonly<{ artifacts: number; bytes: number }>> {
    const [row] =
      await this.sql`select count(*) as artifacts, coalesce(sum(bytes), 0) as bytes from artifacts.artifact where owner_id = ${ownerId}`;
    return { artifacts: Number(row!['artifacts']), bytes: Number(row!['bytes']) };
  }
}

const asArtifact = (row: Row): ArtifactRecord => ({
  id: row['artifact_id'] as string,
  ownerId: row['owner_id'] as string,
  conversationId: row['conversation_id'] as string | null,
  workflowRunId: row['workflow_run_id'] as string | null,
  messageId: row['message_id'] as string | null,
  kind: row['kind'] as string,
  title: row['title'] as string,
  metadata: row['metadata'] as unknown,
  currentVersion: row['current_version'] as number,
  createdAt: row['created_at'] as Date,
  updatedAt: row['updated_at'] as Date,
});

const asVersion = (row: Row): ArtifactVersionRecord => ({
  version: row['version'] as number,
  filename: row['filename'] as string,
  mimeType: row['mime_type'] as string,
  size: Number(row['size']),
  sha256: row['sha256'] as string,
  blob: { sha256: row['blob'] as string, size: Number(row['blob_size']) },
  previewText: row['preview_text'] as string | null,
  producedBy: row['produced_by'] as unknown,
  spec: row['spec'] as unknown,
  createdAt: row['created_at'] as Date,
});
