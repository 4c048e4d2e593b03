import type { Codec } from '../../../../kernel/event-sourcing/codec.js';
import type { NodeStarted, WorkflowRunEvent } from './workflow-run.events.js';

export const workflowRunCodec: Codec<WorkflowRunEvent> = {
  WorkflowRunStarted: [],
  NodeStarted: [withFencingToken],
  NodeCompleted: [],
  NodeWaiting: [],
  NodeFailed: [],
  WorkflowRunFinished: [],
  WorkflowRunPurged: [],
};

/** Version 1 did not say which producer began an attempt. Every producer is later than that one. */
function withFencingToken(data: Omit<NodeStarted['data'], 'fencingToken'>): NodeStarted['data'] {
  return { ...data, fencingToken: 0 };
}
