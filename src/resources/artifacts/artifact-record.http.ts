import type { ArtifactRecord, ArtifactVersionRecord } from '../../../projections/artifacts/artifacts.queries.js';

/** An artifact as clients read it. The owner is left out. */
export const artifactRecord = (artifact: ArtifactRecord) => ({
  id: artifact.id,
  conversation_id: artifact.conversationId,
  workflow_run_id: artifact.workflowRunId,
  message_id: artifact.messageId,
  kind: artifact.kind,
  title: artifact.title,
  metadata: artifact.metadata,
  current_version: artifact.currentVersion,
  created_at: artifact.createdAt.toISOString(),
  updated_at: artifact.updatedAt.toISOString(),
});

export const versionRecord = (version: ArtifactVersionRecord) => ({
  version: version.version,
  mime_type: version.mimeType,
  filename: version.filename,
  size: version.size,
  sha256: version.sha256,
  preview_text: version.previewText,
  produced_by: version.producedBy,
  created_at: version.createdAt.toISOString(),
});
