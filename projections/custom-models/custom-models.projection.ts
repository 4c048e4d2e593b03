import { customModelCodec } from '../../src/resources/models/custom/custom-model.codec.js';
import type { CustomModelDefinition, CustomModelEvent } from '../../src/resources/models/custom/custom-model.events.js';
import { changeIn, defineProjection, insertInto, removeFrom } from '../projection.js';
import { asJsonb, asText } from '../text.js';

/** Every living custom model as it is defined now. */
export const customModels = defineProjection<CustomModelEvent>({
  name: 'custom-models',
  categories: ['customModel'],
  codec: customModelCodec,
  ddl: new URL('./custom-models.sql', import.meta.url),

  on: {
    CustomModelCreated: ({ data: { modelId, ownerId, definition }, at }) =>
      insertInto('custom_model', {
        model_id: modelId,
        owner_id: asText(ownerId),
        ...columnsOf(definition),
        created_at: at,
        updated_at: at,
      }),

    CustomModelChanged: ({ data: { modelId, changes }, at }) =>
      changeIn('custom_model', { model_id: modelId }, { ...columnsOf(changes), updated_at: at }),

    CustomModelDeleted: ({ data }) => removeFrom('custom_model', { model_id: data.modelId }),
  },
});

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
