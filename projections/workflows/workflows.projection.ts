import { workflowCodec } from '../../src/resources/workflows/workflow.codec.js';
import type { WorkflowEvent } from '../../src/resources/workflows/workflow.events.js';
import { changeIn, defineProjection, insertInto, removeFrom } from '../projection.js';
import { asText } from '../text.js';

/** Every workflow there is, without its graphs. */
export const workflows = defineProjection<WorkflowEvent>({
  name: 'workflows',
  categories: ['workflow'],
  codec: workflowCodec,
  ddl: new URL('./workflows.sql', import.meta.url),
  indexesLast: true,

  on: {
    WorkflowCreated: ({ data }) =>
      insertInto('workflow', {
        workflow_id: data.workflowId,
        owner_id: data.ownerId,
        name: asText(data.name),
        description: asText(data.description),
        version: data.version,
        created_at: data.createdAt,
        updated_at: data.updatedAt,
      }),

    WorkflowChanged: ({ data }) =>
      changeIn(
        'workflow',
        { workflow_id: data.workflowId },
        {
          name: asText(data.name),
          description: asText(data.description),
          version: data.version,
          updated_at: data.updatedAt,
        },
      ),

    WorkflowDeleted: ({ data }) => removeFrom('workflow', { workflow_id: data.workflowId }),
  },
});
