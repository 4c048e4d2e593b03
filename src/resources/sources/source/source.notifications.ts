import {
  type Notification,
  notificationRule,
  REASON_CHARACTERS_MAX,
  subjectOf,
} from '../../../kernel/event-sourcing/notifications.js';
import { taskCodec } from '../../../work/tasks/task.codec.js';
import type { TaskEvent } from '../../../work/tasks/task.events.js';
import { sourceCodec } from './source.codec.js';
import {
  type IngestOperation,
  type RemoteKind,
  type RemoteOrigin,
  type SourceEvent,
  type SourceFile,
  type SourceIngestCompleted,
  type SourceIngestFailed,
  type SourceIngestRequested,
  sourceStream,
} from './source.events.js';
import { namesOf } from './file-names.policy.js';
import { warningsOf, whatIsRead } from './page-warnings.policy.js';
import { cutText } from '../../../kernel/cut-text.js';

type About<Type extends string, Payload extends object> = Notification<Type, 'source', { source_id: string } & Payload>;

type Ingested =
  | { job_name: string; filename: string; operation: 'upload' | 'reingest' }
  | { job_name: string; loader: RemoteKind; operation: 'upload' | 'sync' };

type Progressed = About<
  'source.ingest.progress',
  { current: number; total: number; stage: 'parsing' | 'embedding'; files_done: number }
>;

export type SourceNotification =
  | About<'source.ingest.queued', Ingested>
  | Progressed
  | About<'source.ingest.completed', Ingested & { tokens: number; limited: false; warnings?: readonly string[] }>
  | About<'source.ingest.failed', Ingested & { error: string }>;

/** The number of warnings in a notification. The result of the task has all of them. */
const WARNINGS_MAX = 10;

/** The state of a source's newest ingestion from which notifications are made. */
type Ingestion = Readonly<{
  sourceId: string;
  ownerId: string;
  name: string;
  ingestId: string;
  remote: RemoteOrigin | null;
  operation: IngestOperation;
  /** The names of the uploaded files. */
  filename: string;
  files: readonly SourceFile[];
  warnings: readonly string[];
  isOpen: boolean;
}>;

const noIngestion: Ingestion = {
  sourceId: '',
  ownerId: '',
  name: '',
  ingestId: '',
  remote: null,
  operation: 'upload',
  filename: '',
  files: [],
  warnings: [],
  isOpen: false,
};

function withIngestionChangedBy(ingestion: Ingestion, { type, data }: SourceEvent): Ingestion {
  switch (type) {
    case 'SourceCreated':
      return { ...ingestion, sourceId: data.sourceId, ownerId: data.ownerId, name: data.name, remote: data.remote };
    case 'SourceIngestRequested':
      return {
        ...ingestion,
        ingestId: data.ingestId,
        operation: data.operation,
        filename: namesOf(data.files),
        files: data.files,
        warnings: [],
        isOpen: true,
      };
    case 'SourcePagesFetched':
      return { ...ingestion, files: data.files, warnings: warningsOf(data, whatIsRead(ingestion.remote)) };
    case 'SourceArchivesUnpacked':
      return { ...ingestion, files: data.files, warnings: warningsOf(data, 'files') };
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

/** The notification that the owner gets for a step of an ingestion. */
function ingestionNotification(
  ingestion: Ingestion,
  event: SourceIngestRequested | SourceIngestCompleted | SourceIngestFailed,
): SourceNotification {
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
      const error = cutText(event.data.reason, REASON_CHARACTERS_MAX);
      return { type: 'source.ingest.failed', scope, payload: { ...about, error } };
    }
  }
}

function aboutIngestion({ sourceId, name, remote, operation, filename }: Ingestion) {
  const about = { source_id: sourceId, job_name: name };
  if (remote) return { ...about, loader: remote.kind, operation: operation === 'upload' ? operation : 'sync' } as const;
  return { ...about, filename, operation: operation === 'upload' ? operation : 'reingest' } as const;
}

/**
 * The first half of the progress of a remote source is fetching. Each file is parsed in the first half of its share and embedded
 * in the second. Undefined after the ingestion has ended, because its end has been notified.
 */
function progressNotification(ingestion: Ingestion, taskId: string, percent: number): Progressed | undefined {
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

/** The task of an ingestion. Both have the same id. */
type IngestTask = Readonly<{ ownerId: string; sourceId: string }>;

function ingestTaskOf(task: IngestTask | undefined, { type, data }: TaskEvent): IngestTask | undefined {
  if (type !== 'TaskQueued') return task;
  const { ownerId, input } = data;
  return typeof input['sourceId'] === 'string' ? { ownerId, sourceId: input['sourceId'] } : undefined;
}

const folding = { codec: sourceCodec, initial: noIngestion, evolve: withIngestionChangedBy };

export const sourceNotifications = [
  notificationRule({
    ...folding,
    category: 'source',
    about: ['SourceIngestRequested', 'SourceIngestCompleted', 'SourceIngestFailed'],
    ownerOf: ({ ownerId }) => ownerId,
    noticesOf: (event, _, ingestion) => [{ notification: ingestionNotification(ingestion, event) }],
  }),
  notificationRule({
    category: 'task',
    codec: taskCodec,
    about: ['TaskProgressed'],
    initial: undefined,
    evolve: ingestTaskOf,
    foldedMax: 1,
    ownerOf: (task) => task?.ownerId,
    noticesOf: ({ data: { taskId, percent } }, _, task) => {
      if (!task) return [];
      const stream = sourceStream(task.sourceId);
      return [
        { subject: subjectOf({ ...folding, stream, notification: (state) => progressNotification(state, taskId, percent) }) },
      ];
    },
  }),
];
