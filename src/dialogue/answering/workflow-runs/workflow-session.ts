import type { Frame } from '../../journal/message.events.js';
import type { Run } from '../loop/agent-loop.js';
import type { OpenMatch } from '../../../resources/guardrails/guardrail-decisions.policy.js';
import type { Transcript } from '../loop/transcript.js';
import type { WorkflowGraph } from '../../../resources/workflows/workflow-graph.policy.js';
import type { RunState } from './nodes/run-state.js';
import type { RunBook } from './run-book.js';
import type { RunStep } from './run/workflow-run.decider.js';
import type { RunValues } from './run-values.js';
import type { StepAdditions } from './step-collector.js';
import type { WorkflowFrames } from './workflow-frames.js';

/** The state of a paused run, stored beside the continuation of its node. */
export type Waiting = Readonly<{ step: number; framesSaid: number; made: StepAdditions }>;
/** The continuation of a paused workflow turn: the node's loop state, and the text that the node had written. */
export type WorkflowContinuation = Readonly<{ text: string; openMatch?: OpenMatch; workflow: Waiting }>;

/** The data that stays the same for all steps of a producer's run. */
export type WorkflowSession = Readonly<{
  transcript: Transcript;
  run: Run;
  graph: WorkflowGraph;
  book: RunBook;
  state: RunState;
  frames: WorkflowFrames;
  waiting: WorkflowContinuation | undefined;
}>;

/** The variables that the frame of a step shows. The first step also shows the inputs of the run. */
export async function shownVariables(
  values: RunValues,
  { book, frames }: WorkflowSession,
  { step }: RunStep,
  delta: Readonly<Record<string, unknown>>,
) {
  if (step > 1 || !frames.isNextMissing) return delta;
  return { ...(await values.recallAll(book.run.started!.inputs)), ...delta };
}

/** The frames after the last frame that shows a step. */
export const sinceLastStep = (shown: readonly Frame[]): readonly Frame[] =>
  shown.slice(shown.findLastIndex(({ type }) => type === 'workflow_step') + 1);

/** Whether the frames show text of the answer. */
export const haveText = (frames: readonly Frame[]): boolean => frames.some(({ type }) => type === 'answer' || type === 'thought');
