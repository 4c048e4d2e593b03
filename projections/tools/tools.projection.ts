import type { TransactionSql } from 'postgres';
import { agentCodec } from '../../src/resources/agents/agent.codec.js';
import type { AgentEvent } from '../../src/resources/agents/agent.events.js';
import { defaultToolsCodec } from '../../src/resources/tools/defaults/default-tools.codec.js';
import type { DefaultToolsEvent } from '../../src/resources/tools/defaults/default-tools.events.js';
import { toolCodec } from '../../src/resources/tools/toolbox/tool.codec.js';
import type { ToolDefinition, ToolEvent } from '../../src/resources/tools/toolbox/tool.events.js';
import { changeIn, defineProjection, insertInto, removeFrom, type Statement } from '../projection.js';
import { asJsonb, asText } from '../text.js';

/**
 * The current definition of every tool that is not deleted, with the revision of its stream, and the default tools that users
 * have switched off.
 */
export const tools = defineProjection<ToolEvent | DefaultToolsEvent | AgentEvent>({
  name: 'tools',
  categories: ['tool', 'defaultTools', 'agent'],
  codec: { ...toolCodec, ...defaultToolsCodec, ...agentCodec },
  ddl: new URL('./tools.sql', import.meta.url),

  on: {
    ToolCreated: ({ data: { toolId, ownerId, definition, importId }, revision, at }) =>
      insertInto('tool', {
        tool_id: toolId,
        owner_id: asText(ownerId),
        ...columnsOf(definition),
        revision,
        created_at: at,
        updated_at: at,
        import_id: importId ?? null,
      }),

    ToolChanged: ({ data: { toolId, changes }, revision, at }) =>
      changeIn('tool', { tool_id: toolId }, { ...columnsOf(changes), revision, updated_at: at }),

    ToolDeleted: ({ data }) => removeFrom('tool', { tool_id: data.toolId }),

    AgentCreated: ({ data: { importId } }, sql) => (importId === undefined ? [] : listed(importId, sql)),
    AgentUpdated: ({ data: { importId } }, sql) => (importId === undefined ? [] : listed(importId, sql)),

    DefaultToolSwitchedOff: ({ data }, sql) => sql`
      insert into default_tool_off (user_id, name) values (${asText(data.userId)}, ${asText(data.name)}) on conflict do nothing`,

    DefaultToolSwitchedOn: ({ data }) =>
      removeFrom('default_tool_off', { user_id: asText(data.userId), name: asText(data.name) }),
  },
});

const listed = (importId: string, sql: TransactionSql): Statement =>
  sql`update tool set import_id = null where import_id = ${importId}`;

/**
 * The columns have the type json, which keeps the order of keys, because models fill parameters in the order of their properties.
 */
const columnsOf = (definition: Partial<ToolDefinition>) => {
  const { name, displayName, customName, description, config, credentialsId, actions, status } = definition;
  return {
    ...(name !== undefined && { name: asText(name) }),
    ...(displayName !== undefined && { display_name: asText(displayName) }),
    ...(customName !== undefined && { custom_name: asText(customName) }),
    ...(description !== undefined && { description: asText(description) }),
    ...(config !== undefined && { config: asJsonb(config) }),
    ...(credentialsId !== undefined && { credentials_id: credentialsId }),
    ...(actions !== undefined && { actions: asJsonb(actions) }),
    ...(status !== undefined && { status }),
  };
};
