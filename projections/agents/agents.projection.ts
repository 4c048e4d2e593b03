import type { TransactionSql } from 'postgres';
import { agentCodec } from '../../src/resources/agents/agent.codec.js';
import type { AgentEvent } from '../../src/resources/agents/agent.events.js';
import { agentFoldersCodec } from '../../src/resources/agents/folders/agent-folders.codec.js';
import type { AgentFoldersEvent } from '../../src/resources/agents/folders/agent-folders.events.js';
import { keptAgentsCodec } from '../../src/resources/agents/links/kept-agents.codec.js';
import type { KeptAgentsEvent } from '../../src/resources/agents/links/kept-agents.events.js';
import { conversationCodec } from '../../src/dialogue/conversation/conversation.codec.js';
import type { TurnAsked, TurnsPurged } from '../../src/dialogue/conversation/conversation.events.js';
import { changeIn, defineProjection, inSet, insertInto, removeFrom, type SetStatement, type Statement } from '../projection.js';
import { asJsonb, asText } from '../text.js';

const { TurnAsked, TurnsPurged } = conversationCodec;

/**
 * Every agent that is not deleted: its configuration, the hashes of its key and of its webhook's token, its link, the users who
 * pinned or kept it, and when it was last asked. Also the folders of agents.
 */
export const agents = defineProjection<AgentEvent | AgentFoldersEvent | KeptAgentsEvent | TurnAsked | TurnsPurged>({
  name: 'agents',
  categories: ['agent', 'agentFolders', 'keptAgents', 'conversation'],
  codec: { ...agentCodec, ...agentFoldersCodec, ...keptAgentsCodec, TurnAsked, TurnsPurged },
  ddl: new URL('./agents.sql', import.meta.url),

  on: {
    AgentCreated: ({ data }, sql) => {
      const { agentId, ownerId, createdAt, configuration } = data;
      const { jsonSchema, ...plain } = configuration;
      return sql`
        insert into agent (agent_id, owner_id, status, configuration, json_schema, created_at, updated_at)
        values (${agentId}, ${ownerId}, 'draft', ${sql.json(asJsonb(plain))}, ${verbatim(jsonSchema)}::text::json, ${createdAt}, ${createdAt})
        on conflict (agent_id) do nothing`;
    },

    AgentUpdated: ({ data }, sql) => {
      const { jsonSchema, ...plain } = data.changes;
      return sql`
        update agent set configuration = configuration || ${sql.json(asJsonb(plain))}, updated_at = ${data.updatedAt}
          ${jsonSchema === undefined ? sql`` : sql`, json_schema = ${verbatim(jsonSchema)}::text::json`}
        where agent_id = ${data.agentId}`;
    },

    AgentPublished: ({ data }, sql) => setStatus(sql, data, 'published'),
    AgentWithdrawnToDraft: ({ data }, sql) => setStatus(sql, data, 'draft'),

    AgentKeyIssued: ({ data: { agentId, key } }, sql) => sql`
      insert into agent_key (key_hash, key_id, agent_id, masked) values (${key.hash}, ${key.keyId}, ${agentId}, ${key.masked})
      on conflict (key_hash) do nothing`,

    AgentKeyRevoked: ({ data }, sql) => sql`delete from agent_key where agent_id = ${data.agentId} and key_id = ${data.keyId}`,

    AgentWebhookMinted: ({ data: { agentId, webhook } }, sql) => sql`
      insert into agent_webhook (token_hash, agent_id, credentials_id) values (${webhook.hash}, ${agentId}, ${webhook.credentialsId})
      on conflict (token_hash) do nothing`,

    AgentLinked: ({ data: { agentId, link, sharedBy, sharedAt } }) =>
      insertInto('agent_link', {
        ...{ agent_id: agentId, link_id: link.linkId, token_hash: link.tokenHash },
        ...{ shared_by: asText(sharedBy), shared_at: sharedAt },
      }),
    AgentLinkEnded: ({ data: { agentId } }) => removeFrom('agent_link', { agent_id: agentId }),
    AgentKept: ({ data: { userId, agentId, linkId, keptAt } }, sql) => sql`
      insert into kept_agent (user_id, agent_id, link_id, kept_at) values (${userId}, ${agentId}, ${linkId}, ${keptAt})
      on conflict (user_id, agent_id) do update set link_id = excluded.link_id, kept_at = excluded.kept_at`,
    KeptAgentRemoved: ({ data: { userId, agentId } }) => removeFrom('kept_agent', { user_id: userId, agent_id: agentId }),

    AgentPinned: ({ data, at }, sql) => sql`
      insert into agent_pin (agent_id, user_id, pinned_at) values (${data.agentId}, ${data.userId}, ${at}) on conflict do nothing`,

    AgentUnpinned: ({ data }, sql) => sql`delete from agent_pin where agent_id = ${data.agentId} and user_id = ${data.userId}`,

    AgentDeleted: ({ data }, sql) => [
      sql`delete from agent_pin where agent_id = ${data.agentId}`,
      sql`delete from kept_agent where agent_id = ${data.agentId}`,
      sql`delete from agent_webhook where agent_id = ${data.agentId}`,
      sql`delete from agent_use where agent_id = ${data.agentId}`,
      sql`delete from agent where agent_id = ${data.agentId}`,
    ],

    AgentFolderCreated: ({ data: { folderId, ownerId, name, parentId, createdAt } }) =>
      insertInto('agent_folder', {
        ...{ folder_id: folderId, owner_id: ownerId, name: asText(name), parent_id: parentId },
        ...{ created_at: createdAt, updated_at: createdAt },
      }),
    AgentFolderChanged: ({ data: { folderId, name, parentId, updatedAt } }) =>
      changeIn(
        'agent_folder',
        { folder_id: folderId },
        {
          ...(name !== undefined && { name: asText(name) }),
          ...(parentId !== undefined && { parent_id: parentId }),
          updated_at: updatedAt,
        },
      ),
    AgentFolderDeleted: ({ data: { folderId } }, sql) => [
      sql`update agent_folder set parent_id = null where parent_id = ${folderId}`,
      removeFrom('agent_folder', { folder_id: folderId }),
    ],

    TurnAsked: ({ data: { settings }, at }) => askedAt(settings.agentId, at),
    TurnsPurged: ({ data }) =>
      data.turns.flatMap(({ question }) => (question ? askedAt(question.agentId, new Date(question.at)) : [])),
  },
});

const askedAt = (agentId: string | null, at: Date) => (agentId === null ? [] : inSet(ASKED_AGENTS, { agent_id: agentId, at }));

const ASKED_AGENTS: SetStatement = {
  columns: { agent_id: 'text', at: 'timestamptz' },
  tables: ['agent_use'],
  step: 1,
  statement: ({ sql, rows, table }) => sql`
    insert into ${table('agent_use')} as known (agent_id, last_used_at) select agent_id, max(at) from ${rows} group by agent_id
    on conflict (agent_id) do update set last_used_at = greatest(known.last_used_at, excluded.last_used_at)`,
};

/** The JSON text of a schema. It keeps the order of the properties, because models fill them in that order. */
const verbatim = (schema: object | null) => schema && JSON.stringify(schema);

const setStatus = (sql: TransactionSql, data: { agentId: string; updatedAt: string }, status: string): Statement =>
  sql`update agent set status = ${status}, updated_at = ${data.updatedAt} where agent_id = ${data.agentId}`;
