import { decodeCause } from '../../src/kernel/codec.js';
import type { Cause } from '../../src/kernel/events.js';
import { defineProjection, insertInto } from '../projection.js';
import { asText } from '../text.js';

/** Everything that ever happened, as it is stored, and who made it happen; frames of messages, and what users were told of all this, are left to their streams. */
export const auditLog = defineProjection({
  name: 'audit-log',
  exceptCategories: ['message', 'user'],
  codec: {},
  ddl: new URL('./audit-log.sql', import.meta.url),
  indexesLast: true,
  on: {},

  every: ({ id, type, stream, revision, position, at, data, metadata }) => {
    const cause = causeIn(metadata);
    return insertInto('event', {
      position: String(position),
      event_id: id,
      stream,
      revision,
      type,
      at,
      actor: cause.actor ?? null,
      credential: cause.credential ?? null,
      correlation_id: cause.correlationId ?? null,
      causation_id: cause.causationId ?? null,
      data: asText(data),
    });
  },
});

/** An event whose cause nobody can read has happened all the same. */
function causeIn(metadata: string): Partial<Cause> {
  try {
    return decodeCause(metadata);
  } catch {
    return {};
  }
}
