import type { TransactionSql } from 'postgres';
import { agentCodec } from '../../src/resources/agents/agent.codec.js';
import type { AgentEvent } from '../../src/resources/agents/agent.events.js';
import { customModelCodec } from '../../src/resources/models/custom/custom-model.codec.js';
import type { CustomModelDefinition, CustomModelEvent } from '../../src/resources/models/custom/custom-model.events.js';
import { changeIn, defineProjection, insertInto, removeFrom, type Statement } from '../projection.js';
import { asJsonb, asText } from '../text.js';

/** The current definition of every custom model that is not deleted. */
export const customModels = defineProjection<CustomModelEvent | AgentEvent>({
  name: 'custom-models',
  categories: ['customModel', 'agent'],
  codec: { ...customModelCodec, ...agentCodec },
  ddl: new URL('./custom-models.sql', import.meta.url),

  on: {
    CustomModelCreated: ({ data: { modelId, ownerId, definition, importId }, at }) =>
      insertInto('custom_model', {
        model_id: modelId,
        owner_id: asText(ownerId),
        ...columnsOf(definition),
        created_at: at,
        updated_at: at,
        import_id: importId ?? null,
      }),

    CustomModelChanged: ({ data: { modelId, changes }, at }) =>
      changeIn('custom_model', { model_id: modelId }, { ...columnsOf(changes), updated_at: at }),

    CustomModelDeleted: ({ data }) => removeFrom('custom_model', { model_id: data.modelId }),

    AgentCreated: ({ data: { importId } }, sql) => (importId === undefined ? [] : listed(importId, sql)),
    AgentUpdated: ({ data: { importId } }, sql) => (importId === undefined ? [] : listed(importId, sql)),
  },
});

const listed = (importId: string, sql: TransactionSql): Statement =>
  sql`update custom_model set import_id = null where import_id = ${importId}`;

const columnsOf = (definition: Partial<CustomModelDefinition>) => {
  const { displayName, description, upstreamModelId, baseUrl, credentialsId, capabilities, enabled } = definition;
  return {
    ...(displayName !== undefined && { display_name: asText(displayName) }),
    ...(description !== undefined && { description: asText(description) }),
    ...(upstreamModelId !== undefined && { upstream_model_id: asText(upstreamModelId) }),
    ...(baseUrl !== undefined && { base_url: asText(baseUrl) }),
    ...(credentialsId !== undefined && { credentials_id: credentialsId }),
    ...(capabilities !== undefined && { capabilities: asJsonb(capabilities) }),
    ...(enabled !== undefined && { enabled }),
  };
};
