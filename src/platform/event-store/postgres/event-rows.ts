import type { StoredEvent } from '../../../kernel/event-sourcing/event-store.js';

/** Maximum events and bytes of a page. Its first event alone may be larger. */
export const PAGE_EVENTS_MAX = 500;
export const PAGE_BYTES_MAX = 1024 * 1024;

/** The columns of an event `e` in the order of `eventOf`, and its size in a page. */
export const EVENT_COLUMNS = 'e.position, e.revision, e.id, e.type, e.data, e.metadata, e.at';
export const EVENT_BYTES = 'octet_length(e.data) + octet_length(e.metadata)';

export type EventRow = [position: string, revision: number, id: string, type: string, data: string, metadata: string, at: Date];

export const eventOf = (stream: string, [position, revision, id, type, data, metadata, at]: EventRow): StoredEvent => ({
  id,
  type,
  data,
  metadata,
  stream,
  revision,
  position: BigInt(position),
  at,
});
