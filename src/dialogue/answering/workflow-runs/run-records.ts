import { Injectable } from '@nestjs/common';
import { recordedEvents } from '../../../kernel/event-sourcing/codec.js';
import { EventStore } from '../../../kernel/event-sourcing/event-store.js';
import type { Recorded } from '../../../kernel/event-sourcing/events.js';
import { RunValues } from './run-values.js';
import { shown } from './workflow-frames.js';
import { workflowRunCodec } from './run/workflow-run.codec.js';
import type {
  StepNumber,
  StepToolCall,
  StoredValues,
  WorkflowRunEvent,
  WorkflowRunFinished,
  WorkflowRunId,
  WorkflowRunStarted,
} from './run/workflow-run.events.js';
import { workflowRunStream } from './run/workflow-run.events.js';

type Values = Readonly<Record<string, unknown>>;

export type RecordedStep = Readonly<{
  nodeId: string;
  nodeType: string;
  title: string;
  /** A step that waits for decisions counts as running. */
  status: 'running' | 'completed' | 'failed';
  attempts: number;
  startedAt: Date;
  completedAt: Date | null;
  error: string | null;
  problems: readonly string[];
  stateDelta: Values;
  toolCalls: readonly StepToolCall[];
}>;

/** A complete run as recorded in its stream. */
export type RecordedRun = Readonly<{
  started: WorkflowRunStarted['data'];
  inputs: Values;
  /** The newest value of each variable. */
  result: Values;
  finished: WorkflowRunFinished['data'] | null;
  steps: readonly RecordedStep[];
  startedAt: Date;
  endedAt: Date | null;
}>;

/** Reads runs and their steps with times. */
@Injectable()
export class RunRecords {
  constructor(
    private readonly store: EventStore,
    private readonly values: RunValues,
  ) {}

  /** Undefined if there is no such run or it was purged with its workflow. @throws BlobsUnavailable */
  async byId(workflowRunId: WorkflowRunId): Promise<RecordedRun | undefined> {
    const events = await recordedEvents<WorkflowRunEvent>(this.store, workflowRunStream(workflowRunId), workflowRunCodec);
    const [first] = events;
    if (first?.type !== 'WorkflowRunStarted') return undefined;
    const steps = new Map<StepNumber, RecordedStep>();
    let finished: Recorded<WorkflowRunFinished> | undefined;
    let result: StoredValues = first.data.inputs;
    for (const event of events) {
      if (event.type === 'WorkflowRunFinished') finished = event;
      if (event.type === 'WorkflowRunPurged') return undefined;
      if (event.type === 'NodeStarted') steps.set(event.data.step, stepOf(event, steps.get(event.data.step)));
      if (event.type !== 'NodeCompleted' && event.type !== 'NodeFailed') continue;
      const { step, problems, toolCalls, stateDelta } = event.data;
      result = { ...result, ...stateDelta };
      steps.set(step, {
        ...steps.get(step)!,
        status: event.type === 'NodeFailed' ? 'failed' : 'completed',
        completedAt: event.at,
        error: event.type === 'NodeFailed' ? event.data.error : null,
        problems,
        toolCalls,
        stateDelta: await this.shown(step === 1 ? { ...first.data.inputs, ...stateDelta } : stateDelta),
      });
    }
    return {
      started: first.data,
      inputs: await this.shown(first.data.inputs),
      result: await this.shown(result),
      finished: finished?.data ?? null,
      steps: [...steps.values()].map((step) => (finished ? failedWith(step, finished) : step)),
      startedAt: first.at,
      endedAt: finished?.at ?? null,
    };
  }

  private async shown(values: StoredValues): Promise<Values> {
    return shown(await this.values.recallAll(values));
  }
}

type NodeStart = Extract<Recorded<WorkflowRunEvent>, { type: 'NodeStarted' }>;

const stepOf = (
  { data: { nodeId, nodeType, title, attempt }, at }: NodeStart,
  before: RecordedStep | undefined,
): RecordedStep => ({
  nodeId,
  nodeType,
  title,
  status: 'running',
  attempts: attempt,
  startedAt: before?.startedAt ?? at,
  completedAt: null,
  error: null,
  problems: [],
  stateDelta: {},
  toolCalls: [],
});

/** Marks a step that was running when its run ended as failed. */
const failedWith = (step: RecordedStep, { data, at }: Recorded<WorkflowRunFinished>): RecordedStep =>
  step.status === 'running' ? { ...step, status: 'failed', completedAt: at, error: data.error ?? data.reason } : step;
