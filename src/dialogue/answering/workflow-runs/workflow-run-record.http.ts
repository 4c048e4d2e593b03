import type { RecordedRun, RecordedStep } from './run-records.js';

/** A run as clients read it. A run that waits for decisions has the status `running`. */
export const workflowRunRecord = ({ started, inputs, result, finished, steps, startedAt, endedAt }: RecordedRun) => ({
  id: started.workflowRunId,
  workflow_id: started.workflowId,
  workflow_version: started.version,
  user_id: started.ownerId,
  agent_id: started.agentId,
  conversation_id: started.origin.kind === 'turn' ? started.origin.conversationId : null,
  message_id: started.origin.kind === 'turn' ? started.origin.turnId : null,
  status: finished?.status ?? 'running',
  reason: finished?.reason ?? null,
  error: finished?.error ?? null,
  inputs,
  result,
  steps: steps.map(stepRecord),
  started_at: startedAt.toISOString(),
  ended_at: endedAt?.toISOString() ?? null,
});

const stepRecord = (step: RecordedStep) => ({
  node_id: step.nodeId,
  node_type: step.nodeType,
  node_title: step.title,
  status: step.status,
  attempts: step.attempts,
  started_at: step.startedAt.toISOString(),
  completed_at: step.completedAt?.toISOString() ?? null,
  duration_ms: step.completedAt && step.completedAt.getTime() - step.startedAt.getTime(),
  error: step.error,
  problems: step.problems,
  state_delta: step.stateDelta,
  tool_calls: step.toolCalls.map(({ tool_name, action_name, status }) => ({ tool_name, action_name, status })),
});
