import type { Run } from '../../loop/agent-loop.js';
import type { Transcript } from '../../loop/transcript.js';
import type { RunState } from './run-state.js';
import type { RunStep } from '../run/workflow-run.decider.js';
import type { WorkflowRunId } from '../run/workflow-run.events.js';

/** Collects the changes of a node while it runs, so that a failed node still records what it had changed. */
export class NodeResult {
  /** Undefined if the node has no output. */
  output: unknown;
  /** The branch that a condition chose. */
  handle: string | undefined;
  readonly delta: Record<string, unknown> = {};
  readonly problems: string[] = [];
  /** The problems that are shown to the user as notices. */
  readonly notices: string[] = [];
  readonly artifactIds: string[] = [];
}

/** The data with which a node runs. */
export type NodeContext = Readonly<{
  workflowRunId: WorkflowRunId;
  step: RunStep;
  transcript: Transcript;
  run: Run;
  state: RunState;
  /** The tools of the run, at the revisions that they had when it began. */
  tools: readonly Readonly<{ toolId: string; revision: number }>[];
  /** The text that the node had written before its pause; undefined if the node was not paused. */
  resumedAfter: string | undefined;
  /** Whether an earlier step has written text of the answer. */
  followsText: boolean;
  result: NodeResult;
}>;

/** Sets the output of a node and the variables under which later steps read it. */
export function setOutput({ step, result }: NodeContext, outputVariable: string, output: unknown): void {
  result.output = output;
  result.delta[`node_${step.nodeId}_output`] = output;
  if (outputVariable !== '') result.delta[outputVariable] = output;
}
