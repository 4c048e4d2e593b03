import type { TransactionSql } from 'postgres';
import { agentCodec } from '../../src/resources/agents/agent.codec.js';
import type { AgentEvent } from '../../src/resources/agents/agent.events.js';
import { workflowCodec } from '../../src/resources/workflows/workflow.codec.js';
import type { WorkflowEvent } from '../../src/resources/workflows/workflow.events.js';
import { changeIn, defineProjection, insertInto, removeFrom, type Statement } from '../projection.js';
import { asText } from '../text.js';

/** Every workflow that is not deleted, without its graphs. */
export const workflows = defineProjection<WorkflowEvent | AgentEvent>({
  name: 'workflows',
  categories: ['workflow', 'agent'],
  codec: { ...workflowCodec, ...agentCodec },
  ddl: new URL('./workflows.sql', import.meta.url),

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

    WorkflowChanged: ({ data }) => {
      const key = { workflow_id: data.workflowId };
      const held = removeFrom('held_change', key);
      const change = {
        name: asText(data.name),
        description: asText(data.description),
        version: data.version,
        updated_at: data.updatedAt,
      };
      if (data.awaitsImport) return [held, insertInto('held_change', { ...key, import_id: data.importId, ...change })];
      return [held, changeIn('workflow', key, change)];
    },

    WorkflowDeleted: ({ data: { workflowId } }) => [
      removeFrom('held_change', { workflow_id: workflowId }),
      removeFrom('workflow', { workflow_id: workflowId }),
    ],

    AgentCreated: ({ data: { importId } }, sql) => (importId === undefined ? [] : released(importId, sql)),
    AgentUpdated: ({ data: { importId } }, sql) => (importId === undefined ? [] : released(importId, sql)),
  },
});

const released = (importId: string, sql: TransactionSql): readonly Statement[] => [
  sql`
    update workflow w set name = h.name, description = h.description, version = h.version, updated_at = h.updated_at
    from held_change h where h.import_id = ${importId} and w.workflow_id = h.workflow_id`,
  sql`delete from held_change where import_id = ${importId}`,
];
