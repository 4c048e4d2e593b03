import { isId } from '../../../kernel/ids.js';
import { Rejection } from '../../../kernel/rejection.js';

/** The position of a chunk: the id of the chunks of one ingestion, and its number among them. */
export type ChunkPlace = Readonly<{ chunksId: string; ordinal: number }>;

export const chunkNotFound = () => new Rejection('chunk-not-found', 'Chunk not found');

export const chunkIdOf = ({ chunksId, ordinal }: ChunkPlace): string => `${chunksId}-${ordinal}`;

/** @throws Rejection chunk-not-found */
export function chunkPlaceIn(chunkId: string): ChunkPlace {
  const [, chunksId = '', ordinal = ''] = /^(.*)-(\d{1,9})$/.exec(chunkId) ?? [];
  if (!isId(chunksId)) throw chunkNotFound();
  return { chunksId, ordinal: Number(ordinal) };
}
