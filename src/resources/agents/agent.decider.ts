import type { Decision } from '../../kernel/event-sourcing/decider.js';
import { Rejection } from '../../kernel/rejection.js';
import type { Aggregate } from '../../kernel/event-sourcing/streams.js';
import { sameJson } from '../../kernel/same-json.js';
import { agentCodec } from './agent.codec.js';
import type { AgentConfiguration, AgentEvent, AgentLink, AgentStatus, AgentWebhook, IssuedKey } from './agent.events.js';
import { BLANK_AGENT, lackingForPublication } from './agent.policy.js';
import { fieldsAfterImport, type ImportedAgent } from './imported-agent.policy.js';

/** The state of an agent, as far as its decisions need it. */
export type Agent = Readonly<{
  id: string;
  status: 'none' | AgentStatus | 'deleted';
  ownerId: string;
  configuration: AgentConfiguration | null;
  updatedAt: string;
  keyId: string | null;
  /** Null for an agent that was created before agents had webhooks, until its owner requests the URL. */
  webhook: AgentWebhook | null;
  /** The id of the link that is open, if any. */
  linkId: string | null;
  pinnedBy: ReadonlySet<string>;
  /** The ids of the imports that have been applied to the agent. */
  imports: ReadonlySet<string>;
}>;

const initial: Agent = {
  id: '',
  status: 'none',
  ownerId: '',
  configuration: null,
  updatedAt: '',
  keyId: null,
  webhook: null,
  linkId: null,
  pinnedBy: new Set(),
  imports: new Set(),
};

export const agent: Aggregate<Agent, AgentEvent> = { initial, evolve, codec: agentCodec };

function evolve(state: Agent, event: AgentEvent): Agent {
  switch (event.type) {
    case 'AgentCreated': {
      const { agentId, ownerId, configuration, createdAt, importId } = event.data;
      const imports = importsWith(state, importId);
      return { ...state, id: agentId, status: 'draft', ownerId, configuration, updatedAt: createdAt, imports };
    }
    case 'AgentUpdated': {
      const { changes, updatedAt, importId } = event.data;
      const imports = importsWith(state, importId);
      return { ...state, configuration: { ...state.configuration!, ...changes }, updatedAt, imports };
    }
    case 'AgentPublished':
      return { ...state, status: 'published', updatedAt: event.data.updatedAt };
    case 'AgentWithdrawnToDraft':
      return { ...state, status: 'draft', updatedAt: event.data.updatedAt };
    case 'AgentKeyIssued':
      return { ...state, keyId: event.data.key.keyId };
    case 'AgentKeyRevoked':
      return { ...state, keyId: null };
    case 'AgentWebhookMinted':
      return { ...state, webhook: event.data.webhook };
    case 'AgentLinked':
      return { ...state, linkId: event.data.link.linkId };
    case 'AgentLinkEnded':
      return { ...state, linkId: null };
    case 'AgentPinned':
      return { ...state, pinnedBy: new Set([...state.pinnedBy, event.data.userId]) };
    case 'AgentUnpinned':
      return { ...state, pinnedBy: new Set([...state.pinnedBy].filter((userId) => userId !== event.data.userId)) };
    case 'AgentDeleted':
      return { ...state, status: 'deleted' };
  }
}

const importsWith = ({ imports }: Agent, importId: string | undefined): ReadonlySet<string> =>
  importId === undefined ? imports : new Set([...imports, importId]);

type Decide = Decision<Agent, AgentEvent>;

/** Also the answer to a caller who may not know whether the agent exists. */
export const agentNotFound = () => new Rejection('agent-not-found', 'Agent not found');

function requireThere({ status }: Agent): void {
  if (status === 'none' || status === 'deleted') throw agentNotFound();
}

function ownedBy(state: Agent, ownerId: string): AgentConfiguration {
  requireThere(state);
  if (state.ownerId !== ownerId) throw agentNotFound();
  return state.configuration!;
}

export type AgentChange = Readonly<{
  changes: Partial<AgentConfiguration>;
  status?: AgentStatus | undefined;
  /** The ids in the changes that the agent's owner or editor may not use. */
  inaccessible: ReadonlySet<string>;
  /** The version that the client has read. Without it, the change applies to the current version. */
  expectedUpdatedAt?: Date | undefined;
  /** The key to issue if this change publishes the agent and it has no key. */
  key: IssuedKey;
  now: Date;
}>;

/** Creates an agent with its webhook. If the wanted status is `published`, publishes it at once and issues its key. */
export const create =
  (
    agentId: string,
    ownerId: string,
    wanted: Pick<AgentChange, 'inaccessible' | 'key' | 'now'> &
      Readonly<{ configuration: AgentConfiguration; status: AgentStatus; webhook: AgentWebhook }>,
  ): Decide =>
  (state) => {
    if (state.status !== 'none') return [];
    refuseInaccessible(BLANK_AGENT, wanted.configuration, wanted.inaccessible);
    const createdAt = wanted.now.toISOString();
    const created: AgentEvent = {
      type: 'AgentCreated',
      data: { agentId, ownerId, createdAt, configuration: wanted.configuration },
    };
    const minted: AgentEvent = { type: 'AgentWebhookMinted', data: { agentId, webhook: wanted.webhook } };
    if (wanted.status === 'draft') return [created, minted];
    return [created, minted, ...publish(evolve(state, created), wanted.key, createdAt)];
  };

export const update =
  (ownerId: string, change: AgentChange): Decide =>
  (state) => {
    const current = ownedBy(state, ownerId);
    refuseStale(state, change.expectedUpdatedAt);
    refuseInaccessible(current, change.changes, change.inaccessible);
    const changes = differing(current, change.changes);
    const updatedAt = after(state.updatedAt, change.now);
    const events: AgentEvent[] = Object.keys(changes).length
      ? [{ type: 'AgentUpdated', data: { agentId: state.id, updatedAt, changes } }]
      : [];
    const updated = events.reduce(evolve, state);
    const status = change.status ?? updated.status;
    if (status === 'published') return [...events, ...publish(updated, change.key, updatedAt)];
    if (updated.status === 'draft') return events;
    return [...events, { type: 'AgentWithdrawnToDraft', data: { agentId: state.id, updatedAt } }];
  };

export type AgentImport = Readonly<{
  importId: string;
  imported: ImportedAgent;
  /** Undefined keeps the agent's slug. */
  slug: string | undefined;
  /** Whether the import created other resources. The event that carries the import's id hands them over to the owner. */
  hasParts: boolean;
  now: Date;
}>;

/** Creates an agent from a file, or changes an existing one but not its status and key. The same import is applied only once. */
export const importInto =
  (agentId: string, ownerId: string, wanted: AgentImport, webhook: AgentWebhook | undefined): Decide =>
  (state) => {
    const { importId, imported, slug, hasParts, now } = wanted;
    if (state.imports.has(importId)) return [];
    if (state.status === 'none' && webhook) {
      const configuration = { ...BLANK_AGENT, retriever: 'classic', ...fieldsAfterImport(BLANK_AGENT, imported, slug) };
      const createdAt = now.toISOString();
      return [
        { type: 'AgentCreated', data: { agentId, ownerId, createdAt, configuration, importId } },
        { type: 'AgentWebhookMinted', data: { agentId, webhook } },
      ];
    }
    const current = ownedBy(state, ownerId);
    const changes = differing(current, fieldsAfterImport(current, imported, slug));
    if (Object.keys(changes).length === 0 && !hasParts) return [];
    const updatedAt = after(state.updatedAt, now);
    return [{ type: 'AgentUpdated', data: { agentId: state.id, updatedAt, changes, importId } }];
  };

function publish(state: Agent, key: IssuedKey, updatedAt: string): AgentEvent[] {
  const lacking = lackingForPublication(state.configuration!);
  if (lacking.length > 0) {
    const isWorkflow = state.configuration!.agentType === 'workflow';
    const text = isWorkflow ? 'Cannot publish workflow agent. Missing' : 'Cannot publish agent. Missing or invalid';
    throw new Rejection('agent-not-publishable', `${text} required fields: ${lacking.join(', ')}`);
  }
  const published: AgentEvent[] =
    state.status === 'published' ? [] : [{ type: 'AgentPublished', data: { agentId: state.id, updatedAt } }];
  return state.keyId ? published : [...published, { type: 'AgentKeyIssued', data: { agentId: state.id, key } }];
}

function refuseStale(state: Agent, expected: Date | undefined): void {
  if (expected && expected.getTime() !== Date.parse(state.updatedAt)) {
    throw new Rejection('agent-stale-write', 'Agent was modified by someone else');
  }
}

/** An agent may keep a reference that it already has, even if its owner has lost access to it. */
function refuseInaccessible(
  current: AgentConfiguration,
  changes: Partial<AgentConfiguration>,
  inaccessible: ReadonlySet<string>,
): void {
  const kept = new Set(referencesIn(current).map(({ id }) => id));
  const refused = referencesIn(changes).find(({ id }) => inaccessible.has(id) && !kept.has(id));
  if (refused) throw new Rejection(refused.code, refused.text);
}

type Reference = Readonly<{ id: string; code: string; text: string }>;

function referencesIn({ source, additionalSources, promptId, tools, folderId, workflowId }: Partial<AgentConfiguration>) {
  const to = (code: string, text: string, ids: readonly (string | null | undefined)[]): readonly Reference[] =>
    ids.filter((id) => !!id).map((id) => ({ id: id!, code, text }));
  return [
    ...to('source-not-accessible', 'Source not accessible', [source, ...(additionalSources ?? [])]),
    ...to('prompt-not-accessible', 'Prompt not accessible', [promptId]),
    ...to('tool-not-accessible', 'Tool not accessible', tools ?? []),
    ...to('folder-not-found', 'Folder not found', [folderId]),
    ...to('workflow-not-found', 'Workflow not found', [workflowId]),
  ];
}

/** The fields that the changes really change. The order of keys counts in a schema, because models fill it in that order. */
function differing(current: AgentConfiguration, changes: Partial<AgentConfiguration>): Partial<AgentConfiguration> {
  const before = current as Readonly<Record<string, unknown>>;
  return Object.fromEntries(
    Object.entries(changes).filter(([field, value]) =>
      field === 'jsonSchema' ? JSON.stringify(before[field]) !== JSON.stringify(value) : !sameJson(before[field], value),
    ),
  );
}

/** The current time, but at least 1 ms after the last change, so that no two versions have the same time. */
const after = (last: string, now: Date) => new Date(Math.max(now.getTime(), Date.parse(last) + 1)).toISOString();

export const regenerateKey =
  (ownerId: string, key: IssuedKey): Decide =>
  (state) => {
    ownedBy(state, ownerId);
    if (state.keyId === key.keyId) return [];
    if (state.status !== 'published' || !state.keyId) {
      throw new Rejection('agent-not-published', 'Publish the agent before resetting its key');
    }
    return [
      { type: 'AgentKeyRevoked', data: { agentId: state.id, keyId: state.keyId } },
      { type: 'AgentKeyIssued', data: { agentId: state.id, key } },
    ];
  };

/** Gives the agent a webhook, unless it has one. */
export const mintWebhook =
  (ownerId: string, webhook: AgentWebhook): Decide =>
  (state) => {
    ownedBy(state, ownerId);
    return state.webhook ? [] : [{ type: 'AgentWebhookMinted', data: { agentId: state.id, webhook } }];
  };

/** Gives the agent a link, unless it has one. */
export const shareByLink =
  (ownerId: string, link: AgentLink, sharedBy: string, now: Date): Decide =>
  (state) => {
    ownedBy(state, ownerId);
    if (state.linkId !== null) return [];
    return [{ type: 'AgentLinked', data: { agentId: state.id, link, sharedBy, sharedAt: now.toISOString() } }];
  };

/** Ends the link of the agent, if it has one. */
export const endLink =
  (ownerId: string): Decide =>
  (state) => {
    ownedBy(state, ownerId);
    return linkEnded(state);
  };

const linkEnded = ({ id: agentId, linkId }: Agent): AgentEvent[] =>
  linkId === null ? [] : [{ type: 'AgentLinkEnded', data: { agentId, linkId } }];

export const pin =
  (userId: string): Decide =>
  (state) => {
    requireThere(state);
    return state.pinnedBy.has(userId) ? [] : [{ type: 'AgentPinned', data: { agentId: state.id, userId } }];
  };

export const unpin =
  (userId: string): Decide =>
  (state) => {
    requireThere(state);
    return state.pinnedBy.has(userId) ? [{ type: 'AgentUnpinned', data: { agentId: state.id, userId } }] : [];
  };

/** Deletes the agent, revokes its key and ends its link. */
export const remove =
  (ownerId: string): Decide =>
  (state) => {
    if (state.status === 'deleted' && state.ownerId === ownerId) return [];
    ownedBy(state, ownerId);
    const revoked: AgentEvent[] = state.keyId
      ? [{ type: 'AgentKeyRevoked', data: { agentId: state.id, keyId: state.keyId } }]
      : [];
    return [...revoked, ...linkEnded(state), { type: 'AgentDeleted', data: { agentId: state.id } }];
  };
