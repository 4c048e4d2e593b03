import type { Run } from '../../loop/agent-loop.js';
import type { Transcript } from '../../loop/transcript.js';
import type { RunState } from './run-state.js';
import type { RunStep } from '../run/workflow-run.decider.js';
import type { WorkflowRunId } from '../run/workflow-run.events.js';

/** What a node changes, written down as it does: a node that fails has done that much. */
export class NodeResult {
  /** Undefined: none. */
  output: unknown;
  /** The branch that a condition chose. */
  handle: string | undefined;
  readonly delta: Record<string, unknown> = {};
  readonly problems: string[] = [];
  /** Those of the problems that the user is told of. */
  readonly notices: string[] = [];
  readonly artifactIds: string[] = [];
}

/** What a node works with. */
export type NodeContext = Readonly<{
  workflowRunId: WorkflowRunId;
  step: RunStep;
  transcript: Transcript;
  run: Run;
  state: RunState;
  /** The tools of the run, as they were when it began. */
  tools: readonly Readonly<{ toolId: string; revision: number }>[];
  /** What the node had written before it waited; undefined: it begins. */
  resumedAfter: string | undefined;
  /** Something was said by an earlier step. */
  followsText: boolean;
  result: NodeResult;
}>;

/** Says under which names the output of a node is read. */
export function setOutput({ step, result }: NodeContext, outputVariable: string, output: unknown): void {
  result.output = output;
  result.delta[`node_${step.nodeId}_output`] = output;
  if (outputVariable !== '') result.delta[outputVariable] = output;
}
