import type { SourceEvent } from '../source/source.events.js';

/**
 * The chunks that no search reads any more since the last of these events of a source: those that others have taken the place
 * of, and those of an ingestion that came to nothing. What an earlier end has left is left out.
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
