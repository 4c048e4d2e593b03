import type { StoredEvent } from '../../../kernel/event-store.js';
import type { ReadResponse } from './stubs.js';

const TICKS_PER_MS = 10_000;

/** The event of a response as the log's readers know it; undefined when the response is none, or one of the store itself. */
export function storedIn(response: ReadResponse): StoredEvent | undefined {
  const recorded = response.getEvent()?.getEvent();
  if (!recorded) return undefined;
  const described = recorded.getMetadataMap();
  const type = described.get('type') ?? '';
  if (type.startsWith('$')) return undefined;
  return {
    id: recorded.getId()?.getString() ?? '',
    type,
    data: text(recorded.getData_asU8()),
    metadata: text(recorded.getCustomMetadata_asU8()),
    stream: text(recorded.getStreamIdentifier()!.getStreamName_asU8()),
    revision: Number(recorded.getStreamRevision()),
    position: BigInt(recorded.getCommitPosition()),
    at: new Date(Math.floor(Number(described.get('created') ?? 0) / TICKS_PER_MS)),
  };
}

/** The position of any response that has one, whether it is wanted or not. */
export function positionOf(response: ReadResponse): bigint | undefined {
  const position = response.getEvent()?.getEvent() ?? response.getCheckpoint();
  return position && BigInt(position.getCommitPosition());
}

/** What a response costs to hold. */
export function bytesOf(response: ReadResponse): number {
  const recorded = response.getEvent()?.getEvent();
  return recorded ? recorded.getData_asU8().length + recorded.getCustomMetadata_asU8().length : 0;
}

const text = ({ buffer, byteOffset, byteLength }: Uint8Array): string => Buffer.from(buffer, byteOffset, byteLength).toString();
