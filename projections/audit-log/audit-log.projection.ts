import { decodeCause } from '../../src/kernel/event-sourcing/codec.js';
import type { StoredEvent } from '../../src/kernel/event-sourcing/event-store.js';
import type { Cause } from '../../src/kernel/event-sourcing/events.js';
import { isPurge } from '../../src/kernel/event-sourcing/purge-events.js';
import type { FollowUpsExpired } from '../../src/background/follow-ups/expired-follow-ups.events.js';
import type { ResponseDeleted, ResponseExpired } from '../../src/dialects/openai/responses/response.events.js';
import type { ArtifactDeleted } from '../../src/resources/artifacts/artifact.events.js';
import type { AgentCreated, AgentKeyIssued } from '../../src/resources/agents/agent.events.js';
import type { AccessTokenCreated } from '../../src/resources/identity/tokens/access-tokens.events.js';
import type { DevicePaired } from '../../src/resources/devices/device/device.events.js';
import { followUpsStream } from '../../src/background/follow-ups/follow-ups.events.js';
import { defineProjection, insertInto, removeFrom } from '../projection.js';
import { asText } from '../text.js';

/**
 * Everything that happened, as it is stored, and who made it happen, as long as it is kept. Frames of messages, keys of
 * requests, and what users were told of all this, are left to their streams, whose events go with age.
 */
export const auditLog = defineProjection({
  name: 'audit-log',
  version: 1,
  exceptCategories: ['idempotency', 'message', 'user'],
  codec: {},
  ddl: new URL('./audit-log.sql', import.meta.url),
  indexesLast: true,
  on: {},

  every: (event) => {
    const { id, type, stream, revision, position, at, data, metadata } = event;
    const cause = causeIn(metadata);
    const row = insertInto('event', {
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
    return [...purged(event).map((place) => removeFrom('event', place)), row, ...keyHolders(event)];
  },
});

/** Whose agent a key is, and whose a token or a device: what is done with them their owner may see. */
function keyHolders({ type, stream, data }: StoredEvent) {
  if (type === ('AgentCreated' satisfies AgentCreated['type'])) {
    const { ownerId } = JSON.parse(data) as AgentCreated['data'];
    return [insertInto('agent', { stream, owner: asText(`user:${ownerId}`) })];
  }
  if (type === ('AgentKeyIssued' satisfies AgentKeyIssued['type'])) {
    const { key } = JSON.parse(data) as AgentKeyIssued['data'];
    return [insertInto('agent_key', { actor: asText(`agent-key:${key.keyId}`), agent: stream })];
  }
  if (type === ('AccessTokenCreated' satisfies AccessTokenCreated['type'])) {
    const { tokenId, ownerId } = JSON.parse(data) as AccessTokenCreated['data'];
    return [insertInto('access_token', { actor: asText(`access-token:${tokenId}`), owner: asText(`user:${ownerId}`) })];
  }
  if (type === ('DevicePaired' satisfies DevicePaired['type'])) {
    const { deviceId, ownerId } = JSON.parse(data) as DevicePaired['data'];
    return [insertInto('device', { actor: asText(`device:${deviceId}`), owner: asText(`user:${ownerId}`) })];
  }
  return [];
}

/** Ends of streams of which nothing else is kept, although they are not called purges. */
const ENDS: ReadonlySet<string> = new Set([
  'ArtifactDeleted' satisfies ArtifactDeleted['type'],
  'ResponseDeleted' satisfies ResponseDeleted['type'],
  'ResponseExpired' satisfies ResponseExpired['type'],
]);

type Place = Readonly<{ stream: string; revision: number }>;

/** Which events are no longer kept once this one is there. */
function purged({ type, stream, revision, data }: StoredEvent): readonly Place[] {
  if (type === ('FollowUpsExpired' satisfies FollowUpsExpired['type'])) {
    const { conversationId, from, before } = JSON.parse(data) as FollowUpsExpired['data'];
    return Array.from({ length: before - from }, (_, offset) => ({
      stream: followUpsStream(conversationId),
      revision: from + offset,
    }));
  }
  if (!isPurge(type) && !ENDS.has(type)) return [];
  const { delivery, keptFrom = revision } = JSON.parse(data) as { delivery?: Place | null; keptFrom?: number };
  const before = Array.from({ length: keptFrom }, (_, earlier) => ({ stream, revision: earlier }));
  return delivery ? [{ stream: delivery.stream, revision: delivery.revision }, ...before] : before;
}

/** An event whose cause cannot be read has happened all the same. */
function causeIn(metadata: string): Partial<Cause> {
  try {
    return decodeCause(metadata);
  } catch {
    return {};
  }
}
