import { purgeOf } from '../../../../kernel/event-sourcing/purge.js';
import { workflowRunCodec } from './workflow-run.codec.js';
import type { WorkflowRunPurged } from './workflow-run.events.js';

export const workflowRunPurges = [
  purgeOf<WorkflowRunPurged>({
    category: 'workflowRun',
    codec: workflowRunCodec,
    type: 'WorkflowRunPurged',
    blobsOf: ({ data }) => data.blobs,
  }),
];
