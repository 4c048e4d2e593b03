import type {
  SourceEvent,
  SourceFile,
  SourceIngestCompleted,
  SourceIngestFailed,
  SourceIngestRequested,
} from '../sources/source.events.js';
import type { Announcement } from './user.events.js';

/** The longest reason that a client is told. */
export const REASON_CHARACTERS_MAX = 1024;

/** What is said of a source's newest ingestion. */
export type Ingestion = Readonly<{
  sourceId: string;
  ownerId: string;
  name: string;
  ingestId: string;
  files: readonly SourceFile[];
  isOpen: boolean;
}>;

export const noIngestion: Ingestion = { sourceId: '', ownerId: '', name: '', ingestId: '', files: [], isOpen: false };

export function withIngestionChangedBy(ingestion: Ingestion, { type, data }: SourceEvent): Ingestion {
  switch (type) {
    case 'SourceCreated':
      return { ...ingestion, sourceId: data.sourceId, ownerId: data.ownerId, name: data.name };
    case 'SourceIngestRequested':
      return { ...ingestion, ingestId: data.ingestId, files: data.files, isOpen: true };
    case 'SourceIngestCompleted':
    case 'SourceIngestFailed':
      return data.ingestId === ingestion.ingestId ? { ...ingestion, isOpen: false } : ingestion;
    case 'SourceDeleted':
      return { ...ingestion, isOpen: false };
    case 'SourceIngestStarted':
      return ingestion;
  }
}

/** What the owner is told of a step of an ingestion. */
export function ingestionAnnounced(
  ingestion: Ingestion,
  event: SourceIngestRequested | SourceIngestCompleted | SourceIngestFailed,
): Announcement {
  const { sourceId, name, files } = ingestion;
  const scope = { kind: 'source', id: sourceId } as const;
  const about = {
    source_id: sourceId,
    job_name: name,
    filename: files.map(({ filename }) => filename).join(', '),
    operation: 'upload',
  } as const;
  switch (event.type) {
    case 'SourceIngestRequested':
      return { type: 'source.ingest.queued', scope, payload: about };
    case 'SourceIngestCompleted':
      return { type: 'source.ingest.completed', scope, payload: { ...about, tokens: event.data.tokens, limited: false } };
    case 'SourceIngestFailed': {
      const error = event.data.reason.slice(0, REASON_CHARACTERS_MAX);
      return { type: 'source.ingest.failed', scope, payload: { ...about, error } };
    }
  }
}

/** Each file is first parsed, which is half of its share, then embedded. Undefined once the ingestion is over: the end was told. */
export function progressAnnounced(ingestion: Ingestion, taskId: string, percent: number): Announcement | undefined {
  const { sourceId, ingestId, files, isOpen } = ingestion;
  if (!isOpen || ingestId !== taskId) return undefined;
  const halves = Math.round((percent / 100) * files.length * 2);
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
