import type { SourceEvent } from '../source/source.events.js';

/**
 * The chunks that the last of these events of a source made obsolete: chunks that others have replaced, and chunks of an
 * ingestion that failed. Chunks that an earlier event made obsolete are not included.
 */
export function leftChunks(events: readonly SourceEvent[]): readonly string[] {
  let live: readonly string[] = [];
  let written: readonly string[] = [];
  let left: readonly string[] = [];
  for (const { type, data } of events) {
    if (type === 'SourceIngestStarted') written = [...written, data.chunksId];
    if (type !== 'SourceIngestCompleted' && type !== 'SourceIngestFailed' && type !== 'SourceDeleted') continue;
    const before = [...live, ...written];
    if (type === 'SourceIngestCompleted') live = [data.chunksId];
    if (type === 'SourceDeleted') live = [];
    left = [...new Set(before)].filter((chunksId) => !live.includes(chunksId));
    written = [];
  }
  return left;
}
