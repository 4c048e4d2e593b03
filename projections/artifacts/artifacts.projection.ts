import { artifactCodec } from '../../src/resources/artifacts/artifact.codec.js';
import type { ArtifactContent, ArtifactEvent } from '../../src/resources/artifacts/artifact.events.js';
import { type Columns, defineProjection, insertInto } from '../projection.js';
import { asJsonb, asText } from '../text.js';

/** Every artifact that is not deleted, with its versions. */
export const artifacts = defineProjection<ArtifactEvent>({
  name: 'artifacts',
  categories: ['artifact'],
  codec: artifactCodec,
  ddl: new URL('./artifacts.sql', import.meta.url),

  on: {
    ArtifactCreated: ({ data, at }) => [
      insertInto('artifact', {
        artifact_id: data.artifactId,
        owner_id: asText(data.ownerId),
        conversation_id: data.parent.conversationId,
        workflow_run_id: data.parent.workflowRunId,
        message_id: data.parent.messageId,
        kind: asText(data.kind),
        title: asText(data.title),
        metadata: asJsonb(data.metadata),
        current_version: 1,
        bytes: data.content.size,
        created_at: at,
        updated_at: at,
      }),
      insertInto('version', versionRow(data.artifactId, 1, data.content, at)),
    ],

    ArtifactVersionAdded: ({ data, at }, sql) => [
      insertInto('version', versionRow(data.artifactId, data.version, data.content, at)),
      sql`
        update artifact set current_version = ${data.version}, bytes = bytes + ${data.content.size}, updated_at = ${at}
        where artifact_id = ${data.artifactId}`,
    ],

    ArtifactVersionRestored: ({ data, at }, sql) => [
      insertInto('version', versionRow(data.artifactId, data.version, data.content, at)),
      sql`update artifact set current_version = ${data.version}, updated_at = ${at} where artifact_id = ${data.artifactId}`,
    ],

    ArtifactDeleted: ({ data }, sql) => [
      sql`delete from version where artifact_id = ${data.artifactId}`,
      sql`delete from artifact where artifact_id = ${data.artifactId}`,
    ],
  },
});

const versionRow = (artifactId: string, version: number, content: ArtifactContent, at: Date): Columns => ({
  artifact_id: artifactId,
  version,
  filename: asText(content.filename),
  mime_type: asText(content.mimeType),
  size: content.size,
  sha256: content.sha256,
  blob: content.blob.sha256,
  blob_size: content.blob.size,
  preview_text: content.previewText === null ? null : asText(content.previewText),
  produced_by: asJsonb(content.producedBy),
  spec: content.spec === null ? null : asJsonb(content.spec),
  created_at: at,
});
