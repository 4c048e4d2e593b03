import type { Codec } from '../../../../kernel/event-sourcing/codec.js';
import type { WorkflowRunEvent } from './workflow-run.events.js';

export const workflowRunCodec: Codec<WorkflowRunEvent> = {
  WorkflowRunStarted: [],
  NodeStarted: [],
  NodeCompleted: [],
  NodeWaiting: [],
  NodeFailed: [],
  WorkflowRunFinished: [],
  WorkflowRunPurged: [],
};
