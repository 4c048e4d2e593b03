import type { StoredEvent } from '../../src/kernel/event-sourcing/event-store.js';
import { isPurge } from '../../src/kernel/event-sourcing/purge-events.js';
import type { FollowUpsExpired } from '../../src/background/follow-ups/expired-follow-ups.events.js';
import type { ResponseDeleted, ResponseExpired } from '../../src/dialects/openai/responses/response.events.js';
import type { ArtifactDeleted } from '../../src/resources/artifacts/artifact.events.js';
import type { AgentCreated, AgentKeyIssued } from '../../src/resources/agents/agent.events.js';
import type { AccessTokenCreated } from '../../src/resources/identity/tokens/access-tokens.events.js';
import type { DevicePaired } from '../../src/resources/devices/device/device.events.js';
import { followUpsStream } from '../../src/background/follow-ups/follow-ups.events.js';
import type { ConversationPurged, ConversationStarted } from '../../src/dialogue/conversation/conversation.events.js';
import { defineProjection, inSet, insertInto, removeFrom, type RowOfSet, type SetStatement } from '../projection.js';
import { asText } from '../text.js';
import { AUDITED, type AuditEvent, auditEventOf } from './audit-event.js';

/** Every audited event as it is stored and who caused it, until it is purged. */
export const auditLog = defineProjection({
  name: 'audit-log',
  version: 1,
  ...AUDITED,
  codec: {},
  ddl: new URL('./audit-log.sql', import.meta.url),
  indexesLast: true,
  on: {},

  every: (event) => {
    const { position, id, stream, revision, type, at, actor, credential, correlationId, causationId, data } = auditEventOf(event);
    const row = insertInto('event', {
      position: String(position),
      event_id: id,
      ...{ stream, revision, type, at, actor, credential },
      correlation_id: correlationId,
      causation_id: causationId,
      data,
    });
    return [...purged(event).map((place) => removeFrom('event', place)), row, ...keyHolders(event), ...linkOf(event, actor)];
  },
});

/** The owners of agent keys, access tokens and devices. An owner may see what is done with them. */
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

/**
 * The owner of a link, from a conversation that a reader of the link began. The purge of the conversation repeats both, because
 * its first event may already be deleted from the log.
 */
function linkOf({ type, data }: StoredEvent, actor: AuditEvent['actor']): readonly RowOfSet[] {
  if (type === ('ConversationStarted' satisfies ConversationStarted['type'])) {
    return isLink(actor) ? [ownedLink(actor, (JSON.parse(data) as ConversationStarted['data']).ownerId)] : [];
  }
  if (type === ('ConversationPurged' satisfies ConversationPurged['type'])) {
    const { ownerId, started } = JSON.parse(data) as ConversationPurged['data'];
    return isLink(started.actor) ? [ownedLink(started.actor, ownerId)] : [];
  }
  return [];
}

const isLink = (actor: string | null): actor is `link:${string}` => actor?.startsWith('link:') ?? false;

const ownedLink = (actor: string, ownerId: string): RowOfSet => inSet(OWNED_LINKS, { actor, owner: asText(`user:${ownerId}`) });

const OWNED_LINKS: SetStatement = {
  columns: { actor: 'text', owner: 'text' },
  tables: ['link'],
  step: 1,
  statement: ({ sql, rows, table }) => sql`
    insert into ${table('link')} (actor, owner) select actor, owner from ${rows} on conflict do nothing`,
};

/** Event types that end a stream and delete all of its earlier events, although their names do not say purge. */
const ENDS: ReadonlySet<string> = new Set([
  'ArtifactDeleted' satisfies ArtifactDeleted['type'],
  'ResponseDeleted' satisfies ResponseDeleted['type'],
  'ResponseExpired' satisfies ResponseExpired['type'],
]);

type Place = Readonly<{ stream: string; revision: number }>;

/** The events that the log no longer keeps once this event is recorded. */
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
