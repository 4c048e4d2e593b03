import type { WorkflowStepFrame } from '../../journal/message.events.js';
import type { AnswerDelta, ProgressFrame } from '../loop/answer-delta.js';
import { forReader } from '../loop/tool-result.policy.js';
import type { RunStep } from './run/workflow-run.decider.js';
import { INLINE_BYTES_MAX, jsonBytes } from '../../../kernel/own-blobs.js';

type Values = Readonly<Record<string, unknown>>;

/** Whether a frame belongs to the sequence of a run's frames. */
export const isWorkflowFrame = ({ type }: Readonly<{ type: string }>): boolean =>
  type === 'workflow_run' || type === 'workflow_step';

/**
 * Yields the frames of a run in order. The order is the same for every producer, so frames that were already shown are skipped by
 * count.
 */
export class WorkflowFrames {
  private passed = 0;

  /** @param shownBefore the number of frames shown in earlier runs of the turn and by former producers of this run */
  constructor(private readonly shownBefore: number) {}

  /** The number of frames shown so far. */
  get count(): number {
    return Math.max(this.shownBefore, this.passed);
  }

  run(workflowRunId: string): readonly AnswerDelta[] {
    return this.next(() => ({ type: 'workflow_run', workflow_run_id: workflowRunId }));
  }

  running(step: RunStep): readonly AnswerDelta[] {
    return this.next(() => ({ ...stepFrame(step), status: 'running' }));
  }

  completed(step: RunStep, delta: Values, output: unknown): readonly AnswerDelta[] {
    return this.next(() => ({ ...stepFrame(step), status: 'completed', state_delta: shown(delta), output: shownValue(output) }));
  }

  failed(step: RunStep, delta: Values, error: string): readonly AnswerDelta[] {
    return this.next(() => ({ ...stepFrame(step), status: 'failed', state_delta: shown(delta), error }));
  }

  /** Whether the next frame is not shown yet. */
  get isNextMissing(): boolean {
    return this.passed >= this.shownBefore;
  }

  private next(frame: () => ProgressFrame): readonly AnswerDelta[] {
    const isMissing = this.isNextMissing;
    this.passed++;
    return isMissing ? [{ type: 'progress', frame: frame() }] : [];
  }
}

const stepFrame = ({ nodeId, nodeType, title }: RunStep) =>
  ({ type: 'workflow_step', node_id: nodeId, node_type: nodeType, node_title: title }) satisfies Partial<WorkflowStepFrame>;

export const shown = (values: Values): Values =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [name, shownValue(value)]));

/** Shortens values that are stored as blobs. */
const shownValue = (value: unknown): unknown =>
  jsonBytes(value ?? null) > INLINE_BYTES_MAX ? forReader(value) : (value ?? null);
