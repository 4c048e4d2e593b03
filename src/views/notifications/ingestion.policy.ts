import type {
  IngestOperation,
  RemoteOrigin,
  SourceEvent,
  SourceFile,
  SourceIngestCompleted,
  SourceIngestFailed,
  SourceIngestRequested,
} from '../../resources/sources/source/source.events.js';
import { warningsOf } from '../../resources/sources/source/page-warnings.policy.js';
import type { Notification } from './user.events.js';

/** A client is told no more warnings than this; the task tells all. */
const WARNINGS_MAX = 10;

/** The longest reason that a client is told. */
export const REASON_CHARACTERS_MAX = 1024;

/** What is said of a source's newest ingestion. */
export type Ingestion = Readonly<{
  sourceId: string;
  ownerId: string;
  name: string;
  ingestId: string;
  remote: RemoteOrigin | null;
  operation: IngestOperation;
  files: readonly SourceFile[];
  warnings: readonly string[];
  isOpen: boolean;
}>;

export const noIngestion: Ingestion = {
  sourceId: '',
  ownerId: '',
  name: '',
  ingestId: '',
  remote: null,
  operation: 'upload',
  files: [],
  warnings: [],
  isOpen: false,
};

export function withIngestionChangedBy(ingestion: Ingestion, { type, data }: SourceEvent): Ingestion {
  switch (type) {
    case 'SourceCreated':
      return { ...ingestion, sourceId: data.sourceId, ownerId: data.ownerId, name: data.name, remote: data.remote };
    case 'SourceIngestRequested':
      return {
        ...ingestion,
        ingestId: data.ingestId,
        operation: data.operation,
        files: data.files,
        warnings: [],
        isOpen: true,
      };
    case 'SourcePagesFetched':
      return { ...ingestion, files: data.files, warnings: warningsOf(data) };
    case 'SourceIngestCompleted':
    case 'SourceIngestFailed':
      return data.ingestId === ingestion.ingestId ? { ...ingestion, isOpen: false } : ingestion;
    case 'SourceDeleted':
      return { ...ingestion, isOpen: false };
    case 'SourceConfigured':
    case 'SourceIngestStarted':
    case 'SourceSyncFrequencySet':
    case 'SourceSyncDue':
      return ingestion;
  }
}

/** What the owner is told of a step of an ingestion. */
export function ingestionNotification(
  ingestion: Ingestion,
  event: SourceIngestRequested | SourceIngestCompleted | SourceIngestFailed,
): Notification {
  const { sourceId, warnings } = ingestion;
  const scope = { kind: 'source', id: sourceId } as const;
  const about = aboutIngestion(ingestion);
  switch (event.type) {
    case 'SourceIngestRequested':
      return { type: 'source.ingest.queued', scope, payload: about };
    case 'SourceIngestCompleted':
      return {
        type: 'source.ingest.completed',
        scope,
        payload: {
          ...about,
          tokens: event.data.tokens,
          limited: false,
          ...(warnings.length > 0 && { warnings: warnings.slice(0, WARNINGS_MAX) }),
        },
      };
    case 'SourceIngestFailed': {
      const error = event.data.reason.slice(0, REASON_CHARACTERS_MAX);
      return { type: 'source.ingest.failed', scope, payload: { ...about, error } };
    }
  }
}

function aboutIngestion({ sourceId, name, remote, operation, files }: Ingestion) {
  const about = { source_id: sourceId, job_name: name };
  if (remote) return { ...about, loader: remote.kind, operation: operation === 'upload' ? operation : 'sync' } as const;
  const filename = files.map((file) => file.filename).join(', ');
  return { ...about, filename, operation: operation === 'upload' ? operation : 'reingest' } as const;
}

/**
 * Of a source of pages the first half is fetching them. Each file is first parsed, which is half of its share, then embedded.
 * Undefined once the ingestion is over: the end was told.
 */
export function progressNotification(ingestion: Ingestion, taskId: string, percent: number): Notification | undefined {
  const { sourceId, ingestId, remote, files, isOpen } = ingestion;
  if (!isOpen || ingestId !== taskId) return undefined;
  const share = remote ? Math.max(0, percent - 50) / 50 : percent / 100;
  const halves = Math.round(share * files.length * 2);
  return {
    type: 'source.ingest.progress',
    scope: { kind: 'source', id: sourceId },
    payload: {
      source_id: sourceId,
      current: Math.round(percent),
      total: files.length,
      stage: halves % 2 === 0 ? 'parsing' : 'embedding',
      files_done: Math.floor(halves / 2),
    },
  };
}
