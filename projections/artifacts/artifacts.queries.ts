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
    const [row] = await this.sql<
      ArtifactRecord[]
    >`select ${this.columns} from artifacts.artifact where artifact_id = ${artifactId}`;
    return row;
  }

  /** A user's artifacts, oldest first. */
  async ownedBy(ownerId: string, { conversationId, workflowRunId }: ArtifactFilter = {}): Promise<readonly ArtifactRecord[]> {
    const { sql } = this;
    return sql<ArtifactRecord[]>`
      select ${this.columns} from artifacts.artifact where owner_id = ${ownerId}
        ${conversationId === undefined ? sql`` : sql`and conversation_id = ${conversationId}`}
        ${workflowRunId === undefined ? sql`` : sql`and workflow_run_id = ${workflowRunId}`}
      order by created_at, artifact_id`;
  }

  /** The artifacts of a conversation, of all owners, oldest first. */
  async ofConversation(conversationId: string): Promise<readonly ArtifactRecord[]> {
    return this.sql<ArtifactRecord[]>`
      select ${this.columns} from artifacts.artifact where conversation_id = ${conversationId} order by created_at, artifact_id`;
  }

  /** The versions of an artifact, oldest first. With `until`, only those that existed at that time. */
  async versionsOf(artifactId: string, until?: Date): Promise<readonly ArtifactVersionRecord[]> {
    const rows = await this.sql<VersionRow[]>`
      select ${this.versionColumns} from artifacts.version where artifact_id = ${artifactId} ${this.madeBy(until)} order by version`;
    return rows.map(asVersion);
  }

  async version(artifactId: string, version: number, until?: Date): Promise<ArtifactVersionRecord | undefined> {
    const rows = await this.sql<VersionRow[]>`
      select ${this.versionColumns} from artifacts.version where artifact_id = ${artifactId} and version = ${version} ${this.madeBy(until)}`;
    return rows.map(asVersion)[0];
  }

  private madeBy(until: Date | undefined) {
    const { sql } = this;
    return until === undefined ? sql`` : sql`and created_at <= ${until}`;
  }

  /** The number and the total size of a user's artifacts. */
  async usageOf(ownerId: string): Promise<Readonly<{ artifacts: number; bytes: number }>> {
    const [usage] = await this.sql<{ artifacts: number; bytes: number }[]>`
      select count(*)::float8 as artifacts, coalesce(sum(bytes), 0)::float8 as bytes
      from artifacts.artifact where owner_id = ${ownerId}`;
    return usage!;
  }

  private get columns() {
    return this.sql`artifact_id as id, owner_id as "ownerId", conversation_id as "conversationId",
      workflow_run_id as "workflowRunId", message_id as "messageId", kind, title, metadata,
      current_version as "currentVersion", created_at as "createdAt", updated_at as "updatedAt"`;
  }

  private get versionColumns() {
    return this.sql`version, filename, mime_type as "mimeType", size::float8 as size, sha256, blob, blob_size::float8 as "blobSize",
      preview_text as "previewText", produced_by as "producedBy", spec, created_at as "createdAt"`;
  }
}

type VersionRow = Omit<ArtifactVersionRecord, 'blob'> & Readonly<{ blob: string; blobSize: number }>;

const asVersion = ({ blob, blobSize, ...version }: VersionRow): ArtifactVersionRecord => ({
  ...version,
  blob: { sha256: blob, size: blobSize },
});
