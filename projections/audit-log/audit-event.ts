import { decodeCause } from '../../src/kernel/event-sourcing/codec.js';
import type { LogFilter, StoredEvent } from '../../src/kernel/event-sourcing/event-store.js';
import type { Cause } from '../../src/kernel/event-sourcing/events.js';
import { asText } from '../text.js';

/** An event as an auditor sees it: `data` is the text that was stored. */
export type AuditEvent = Readonly<{
  position: bigint;
  id: string;
  stream: string;
  revision: number;
  type: string;
  at: Date;
  actor: string | null;
  credential: string | null;
  correlationId: string | null;
  causationId: string | null;
  data: string;
}>;

/** The audited part of the log. Left out are the streams that delete old events by age: frames, idempotency keys, user events. */
export const AUDITED = { exceptCategories: ['idempotency', 'message', 'user'] } as const satisfies LogFilter;

export function auditEventOf({ position, id, stream, revision, type, at, data, metadata }: StoredEvent): AuditEvent {
  const { actor = null, credential = null, correlationId = null, causationId = null } = causeIn(metadata);
  return { position, id, stream, revision, type, at, actor, credential, correlationId, causationId, data: asText(data) };
}

/** An event in the export: JSON in which `data` comes last. */
export type AuditLine = ReturnType<typeof headOf> & Readonly<{ data: unknown }>;

/** The order of the fields is a part of the line. */
const headOf = (event: AuditEvent) => ({
  position: String(event.position),
  id: event.id,
  stream: event.stream,
  revision: event.revision,
  type: event.type,
  actor: event.actor,
  credential: event.credential,
  at: event.at.toISOString(),
  correlation_id: event.correlationId,
  causation_id: event.causationId,
});

/**
 * The line of an event in the export. Data that is JSON on one line is copied byte for byte, other data becomes a JSON string.
 * Seals hold the hashes of these lines, so a later version must not change their bytes.
 */
export function auditLine(event: AuditEvent): string {
  const { data } = event;
  return `${JSON.stringify(headOf(event)).slice(0, -1)},"data":${isJson(data) ? data : JSON.stringify(data)}}`;
}

/** An event whose cause cannot be read is listed without a cause. */
function causeIn(metadata: string): Partial<Cause> {
  try {
    return decodeCause(metadata);
  } catch {
    return {};
  }
}

/** Whether the text is JSON on one line. A line break would end the line of NDJSON. */
function isJson(text: string): boolean {
  if (/[\n\r]/.test(text)) return false;
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
