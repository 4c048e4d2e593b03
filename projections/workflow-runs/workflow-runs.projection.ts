import { workflowRunCodec } from '../../src/dialogue/answering/workflow-runs/run/workflow-run.codec.js';
import type { WorkflowRunEvent, WorkflowRunOrigin } from '../../src/dialogue/answering/workflow-runs/run/workflow-run.events.js';
import { workflowCodec } from '../../src/resources/workflows/workflow.codec.js';
import type { WorkflowDeleted } from '../../src/resources/workflows/workflow.events.js';
import { changeIn, type Columns, defineProjection, insertInto, removeFrom } from '../projection.js';
import { asText } from '../text.js';

/** The state of workflow runs. */
export const workflowRuns = defineProjection<WorkflowRunEvent | WorkflowDeleted>({
  name: 'workflow-runs',
  categories: ['workflow', 'workflowRun'],
  codec: { ...workflowRunCodec, WorkflowDeleted: workflowCodec.WorkflowDeleted },
  ddl: new URL('./workflow-runs.sql', import.meta.url),
  indexesLast: true,

  on: {
    WorkflowRunStarted: ({ data, at }) =>
      insertInto('workflow_run', {
        workflow_run_id: data.workflowRunId,
        workflow_id: data.workflowId,
        version: data.version,
        owner_id: data.ownerId,
        workflow_owner_id: data.workflowOwnerId,
        agent_id: data.agentId,
        ...placeOf(data.origin),
        status: 'running',
        started_at: at,
      }),

    NodeStarted: ({ data: { workflowRunId, title } }) => changed(workflowRunId, { node_title: asText(title), waits: false }),
    NodeCompleted: ({ data: { workflowRunId, step } }) => changed(workflowRunId, { steps: step }),
    NodeWaiting: ({ data: { workflowRunId } }) => changed(workflowRunId, { waits: true }),

    WorkflowRunFinished: ({ data: { workflowRunId, status, reason, error }, at }) =>
      changed(workflowRunId, { status, reason, error: error === null ? null : asText(error), waits: false, ended_at: at }),

    WorkflowRunPurged: ({ data }) => removeFrom('workflow_run', { workflow_run_id: data.workflowRunId }),

    WorkflowDeleted: ({ data: { workflowId }, at }) =>
      insertInto('deleted_workflow', { workflow_id: workflowId, deleted_at: at }),
  },
});

const changed = (workflowRunId: string, values: Columns) => changeIn('workflow_run', { workflow_run_id: workflowRunId }, values);

const placeOf = (origin: WorkflowRunOrigin): Columns =>
  origin.kind === 'run'
    ? { conversation_id: null, turn_id: null, run_id: origin.runId }
    : { conversation_id: origin.conversationId, turn_id: origin.turnId, run_id: null };
