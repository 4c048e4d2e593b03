import type { Decision } from '../../../../kernel/event-sourcing/decider.js';
import type { Aggregate } from '../../../../kernel/event-sourcing/streams.js';
import { Rejection } from '../../../../kernel/rejection.js';
import { workflowRunCodec } from './workflow-run.codec.js';
import type {
  FencingToken,
  NodeCompleted,
  NodeFailed,
  NodeStarted,
  StepContribution,
  StepNumber,
  StoredValue,
  StoredValues,
  WorkflowRunEvent,
  WorkflowRunFinished,
  WorkflowRunReason,
  WorkflowRunStarted,
} from './workflow-run.events.js';

/** The state of a step. */
export type RunStep = Readonly<{
  step: StepNumber;
  nodeId: string;
  nodeType: string;
  title: string;
  /** The newest attempt. Only this attempt can end the step. */
  attempt: number;
  /** The token of the producer that began this attempt. */
  fencingToken: FencingToken;
  status: 'running' | 'waiting' | 'completed' | 'failed';
  ended: NodeCompleted['data'] | NodeFailed['data'] | null;
}>;

export type WorkflowRun = Readonly<{
  status: 'unknown' | 'running' | WorkflowRunFinished['data']['status'] | 'purged';
  started: WorkflowRunStarted['data'] | null;
  /** The steps in order, beginning with step 1. */
  steps: readonly RunStep[];
  /** The newest value of each variable. */
  values: StoredValues;
  finished: WorkflowRunFinished['data'] | null;
  /** The SHA-256 of each blob that belongs to the run. */
  blobs: readonly string[];
  artifactIds: readonly string[];
}>;

const initial: WorkflowRun = {
  status: 'unknown',
  started: null,
  steps: [],
  values: {},
  finished: null,
  blobs: [],
  artifactIds: [],
};

export const workflowRun: Aggregate<WorkflowRun, WorkflowRunEvent> = { initial, evolve, codec: workflowRunCodec };

function evolve(state: WorkflowRun, event: WorkflowRunEvent): WorkflowRun {
  switch (event.type) {
    case 'WorkflowRunStarted': {
      const blobs = blobsOf(Object.values(event.data.inputs));
      return { ...state, status: 'running', started: event.data, values: event.data.inputs, blobs };
    }
    case 'NodeStarted': {
      const { step, nodeId, nodeType, title, attempt, fencingToken } = event.data;
      const started: RunStep = { step, nodeId, nodeType, title, attempt, fencingToken, status: 'running', ended: null };
      return { ...state, steps: [...state.steps.slice(0, step - 1), started] };
    }
    case 'NodeCompleted':
      return withEnd(state, event.data, 'completed');
    case 'NodeFailed':
      return withEnd(state, event.data, 'failed');
    case 'NodeWaiting':
      return withStep(state, event.data.step, { status: 'waiting' });
    case 'WorkflowRunFinished':
      return { ...state, status: event.data.status, finished: event.data };
    case 'WorkflowRunPurged':
      // After the truncation of the stream this is its first event, so the state must not depend on earlier ones.
      return { ...initial, status: 'purged' };
  }
}

const withStep = (state: WorkflowRun, step: StepNumber, change: Partial<RunStep>): WorkflowRun => ({
  ...state,
  steps: state.steps.with(step - 1, { ...state.steps[step - 1]!, ...change }),
});

function withEnd(state: WorkflowRun, ended: NonNullable<RunStep['ended']>, status: RunStep['status']): WorkflowRun {
  const contributed: StepContribution | undefined = 'contribution' in ended ? ended.contribution : undefined;
  const stored = [
    ...Object.values(ended.stateDelta),
    ...Object.values(contributed ?? {}),
    'output' in ended ? ended.output : null,
  ];
  return {
    ...withStep(state, ended.step, { status, ended }),
    values: { ...state.values, ...ended.stateDelta },
    blobs: [...new Set([...state.blobs, ...blobsOf(stored)])],
    artifactIds: [...new Set([...state.artifactIds, ...ended.artifactIds])],
  };
}

const blobsOf = (values: readonly (StoredValue | null)[]): readonly string[] =>
  values.flatMap((value) => (value && 'blob' in value ? [value.blob.sha256] : []));

type Decide = Decision<WorkflowRun, WorkflowRunEvent>;
type RunId = Readonly<{ workflowRunId: string }>;

/** The node of a step that begins. */
export type StepNode = Pick<NodeStarted['data'], 'nodeId' | 'nodeType' | 'title'>;
/** The next step after a completed one, or the end of the run. */
export type Following = Readonly<{ begins: StepNode } | 'end'>;

export const isOver = ({ status }: WorkflowRun): boolean => status !== 'unknown' && status !== 'running';

/** Starts a run once, with its start node, if the graph has one. */
export const startWorkflowRun =
  (data: WorkflowRunStarted['data'], first: StepNode | undefined, token: FencingToken): Decide =>
  (state) => {
    if (state.status !== 'unknown') return [];
    const started: WorkflowRunEvent = { type: 'WorkflowRunStarted', data };
    return first ? [started, nodeStarted(data, 1, 1, first, token)] : [started];
  };

/**
 * A producer begins a new attempt of the open step. Later events of the former attempt are rejected. A step that the former
 * producer has ended, and a run that is over, do not change.
 */
export const restartNode =
  (about: RunId, step: StepNumber, token: FencingToken): Decide =>
  (state) => {
    requireNewest(state, token);
    const open = state.steps[step - 1];
    if (state.status !== 'running' || !open || open.ended) return [];
    return [nodeStarted(about, step, open.attempt + 1, open, token)];
  };

export const completeNode =
  (data: NodeCompleted['data'], following: Following): Decide =>
  (state) => {
    requireOpenStep(state, data);
    const completed: WorkflowRunEvent = { type: 'NodeCompleted', data };
    if (following === 'end') return [completed, finished(data, 'completed', null, null)];
    const { fencingToken } = state.steps[data.step - 1]!;
    return [completed, nodeStarted(data, data.step + 1, 1, following.begins, fencingToken)];
  };

export const waitInNode =
  (about: RunId, { step, nodeId, attempt }: RunStep, callIds: readonly string[]): Decide =>
  (state) => {
    requireOpenStep(state, { ...about, step, attempt });
    return [{ type: 'NodeWaiting', data: { workflowRunId: about.workflowRunId, step, nodeId, attempt, callIds } }];
  };

/** A node that fails ends its run. */
export const failNode =
  (data: NodeFailed['data'], reason: WorkflowRunReason): Decide =>
  (state) => {
    requireOpenStep(state, data);
    return [{ type: 'NodeFailed', data }, finished(data, 'failed', reason, data.error)];
  };

/** Ends a running run. A run that has ended does not change. A producer passes its token. */
export const finishWorkflowRun =
  (
    about: RunId,
    status: 'failed' | 'stopped',
    reason: WorkflowRunReason,
    error: string | null,
    token: FencingToken = Infinity,
  ): Decide =>
  (state) => {
    if (state.status !== 'running') return [];
    requireNewest(state, token);
    return [finished(about, status, reason, error)];
  };

/** Purges a run that has ended. A running run is left unchanged. */
export const purgeWorkflowRun =
  (about: RunId, now: Date): Decide =>
  (state) => {
    if (!isOver(state) || state.status === 'purged') return [];
    const { workflowId, ownerId } = state.started!;
    const { blobs, artifactIds } = state;
    const data = { workflowRunId: about.workflowRunId, workflowId, ownerId, blobs, artifactIds, purgedAt: now.toISOString() };
    return [{ type: 'WorkflowRunPurged', data }];
  };

const nodeStarted = (
  { workflowRunId }: RunId,
  step: StepNumber,
  attempt: number,
  { nodeId, nodeType, title }: StepNode,
  fencingToken: FencingToken,
): NodeStarted => ({ type: 'NodeStarted', data: { workflowRunId, step, nodeId, attempt, nodeType, title, fencingToken } });

const finished = (
  { workflowRunId }: RunId,
  status: WorkflowRunFinished['data']['status'],
  reason: WorkflowRunReason | null,
  error: string | null,
): WorkflowRunFinished => ({ type: 'WorkflowRunFinished', data: { workflowRunId, status, reason, error } });

function requireRunning(state: WorkflowRun, { workflowRunId }: RunId): void {
  if (state.status === 'unknown') throw new Rejection('workflow-run-not-found', 'Workflow run not found');
  if (isOver(state)) throw new Rejection('workflow-run-over', `Workflow run ${workflowRunId} has ended.`);
}

/** @throws Rejection workflow-step-superseded if a later producer has begun a step */
function requireNewest({ steps }: WorkflowRun, token: FencingToken): void {
  const newest = steps.at(-1);
  if (newest && newest.fencingToken > token)
    throw new Rejection('workflow-step-superseded', 'A later producer continues this workflow run.');
}

function requireOpenStep(state: WorkflowRun, about: RunId & Readonly<{ step: StepNumber; attempt: number }>): void {
  requireRunning(state, about);
  const { step, attempt } = about;
  const open = state.steps[step - 1];
  if (state.steps.length === step && open?.attempt === attempt && open.status === 'running') return;
  throw new Rejection(
    'workflow-step-superseded',
    `Attempt ${attempt} of step ${step} of workflow run ${about.workflowRunId} is no longer the newest.`,
  );
}
