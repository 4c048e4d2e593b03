import type { Decision } from '../../../kernel/event-sourcing/decider.js';
import { Rejection } from '../../../kernel/rejection.js';
import { openIngest, type Source, sourceNotFound } from '../source/source.decider.js';
import type { SourceEvent, SourceFile, SourceId } from '../source/source.events.js';

/** A change of the files of a source. An added file replaces a file with the same path. */
export type FileChange =
  | Readonly<{ add: readonly SourceFile[] }>
  | Readonly<{ remove: readonly string[] }>
  | Readonly<{ removeDirectory: string }>;

/** Changes the files of an uploaded source and requests a new ingestion. Refused while an ingestion is running. */
export const changeFiles =
  (sourceId: SourceId, ownerId: string, ingestId: string, change: FileChange): Decision<Source, SourceEvent> =>
  (state) => {
    if (state.status !== 'kept' || state.ownerId !== ownerId) throw sourceNotFound();
    if (state.remote)
      throw new Rejection('source-is-remote', 'The files of this source are fetched from elsewhere and cannot be changed here.');
    if (state.ingest?.ingestId === ingestId) return [];
    if (openIngest(state))
      throw new Rejection('source-being-ingested', 'The files of this source are being read. Please try again.');
    const files = filesAfter(state.ingest?.files ?? state.ingest?.uploaded ?? [], change);
    return [{ type: 'SourceIngestRequested', data: { sourceId, ingestId, ownerId, files, operation: 'reingest' } }];
  };

function filesAfter(files: readonly SourceFile[], change: FileChange): readonly SourceFile[] {
  if ('add' in change) {
    const added = new Set(change.add.map(({ filename }) => filename));
    return [...files.filter(({ filename }) => !added.has(filename)), ...change.add];
  }
  const left = files.filter(({ filename }) => !isRemoved(filename, change));
  if (left.length === files.length) throw new Rejection('source-file-not-found', 'The source has no such file.');
  if (left.length === 0)
    throw new Rejection('invalid-request', 'A source keeps at least one file. To remove all of them, delete the source.');
  return left;
}

const isRemoved = (filename: string, change: Exclude<FileChange, { add: unknown }>): boolean =>
  'remove' in change ? change.remove.includes(filename) : filename.startsWith(`${change.removeDirectory}/`);
