import type { BlobRef } from '../../../../kernel/blobs.js';
import type { Event } from '../../../../kernel/event-sourcing/events.js';
import { deterministicId } from '../../../../kernel/ids.js';
import type { Usage } from '../../../conversation/conversation.events.js';
import type { ToolCallRecord } from '../../../conversation/tool-call.policy.js';

export type WorkflowRunId = string;

/** The number of a step within its run, from 1. A node that is visited again is another step. */
export type StepNumber = number;

/**
 * The order of the producers of a run: the revision of the conversation at which a producer claimed the turn, or the attempt of
 * the headless run. A later producer has a greater token.
 */
export type FencingToken = number;

/** A JSON value of a run's state. A large value is a separate blob that contains the run's id and is deleted with the run. */
export type StoredValue = Readonly<{ value: unknown } | { blob: BlobRef }>;

/** Values by variable name. */
export type StoredValues = Readonly<Record<string, StoredValue>>;

/** The trigger of a run: a turn of a conversation, or a headless run of its agent. */
export type WorkflowRunOrigin =
  | Readonly<{ kind: 'turn'; conversationId: string; turnId: string }>
  | Readonly<{ kind: 'run'; runId: string }>;

/** A tool call of a node as its step records it. */
export type StepToolCall = Pick<ToolCallRecord, 'tool_name' | 'action_name' | 'status'> & Readonly<{ call_id: string }>;

/** The additions of a step to the answer. If the first producer could not show them, another one shows them from here. */
export type StepContribution = Readonly<{
  answer: StoredValue | null;
  thought: StoredValue | null;
  sources: StoredValue | null;
  toolCalls: StoredValue | null;
}>;

/** Why a run ended. */
export type WorkflowRunReason =
  | 'node_failed'
  /** The run reached the maximum number of steps without an end node. */
  | 'step_limit'
  /** A node that is not an end node has no outgoing edge to follow. */
  | 'dead_end'
  /** The graph has no start node, or an edge to a node that does not exist. */
  | 'broken_graph'
  | 'stopped'
  /** The turn or the headless run ended before the workflow run, because the producer died or another failure occurred. */
  | 'interrupted'
  /** `expired`: a step's calls were not decided on in time. `moved_on`: the conversation continued without a decision. */
  | 'expired'
  | 'moved_on'
  | 'conversation_deleted';

type About<More = unknown> = { workflowRunId: WorkflowRunId } & More;
type AboutStep<More = unknown> = About<{ step: StepNumber; nodeId: string; attempt: number } & More>;

/**
 * A run of a graph version began, with the current revisions of its tools. Its chat history is the conversation's up to
 * `history.revision`.
 */
export type WorkflowRunStarted = Event<
  'WorkflowRunStarted',
  About<{
    /** `workflowId` and `version` are null for a graph that was sent with the question and never saved. */
    workflowId: string | null;
    version: number | null;
    /** The user for whom the workflow runs. */
    ownerId: string;
    /** The owner of the workflow, the tools and the sources. */
    workflowOwnerId: string;
    agentId: string | null;
    origin: WorkflowRunOrigin;
    inputs: StoredValues;
    history: Readonly<{ conversationId: string; revision: number }> | null;
    tools: readonly Readonly<{ toolId: string; revision: number }>[];
  }>
>;
/**
 * A producer began a step, or a new attempt of it after the former producer was lost. From here on only this attempt can end the
 * step.
 */
export type NodeStarted = Event<
  'NodeStarted',
  AboutStep<{
    nodeType: string;
    title: string;
    /** The token of the producer that began the attempt. */
    fencingToken: FencingToken;
  }>
>;
/** The step is completed and is never repeated. */
export type NodeCompleted = Event<
  'NodeCompleted',
  AboutStep<{
    /** Null if the node has no output. */
    output: StoredValue | null;
    stateDelta: StoredValues;
    /** The branch that a condition chose. */
    handle?: string;
    /**
     * Problems that did not stop the node, such as expressions that could not be evaluated or templates that could not be
     * rendered.
     */
    problems: readonly string[];
    toolCalls: readonly StepToolCall[];
    artifactIds: readonly string[];
    contribution: StepContribution;
    usage: Usage | null;
  }>
>;
/** The step waits for decisions on its calls in the conversation. */
export type NodeWaiting = Event<'NodeWaiting', AboutStep<{ callIds: readonly string[] }>>;
export type NodeFailed = Event<
  'NodeFailed',
  AboutStep<{
    /** Written for users; `code` is in kebab-case. */
    error: string;
    code: string;
    /** The variables that the node had changed before it failed. */
    stateDelta: StoredValues;
    problems: readonly string[];
    toolCalls: readonly StepToolCall[];
    artifactIds: readonly string[];
    usage: Usage | null;
  }>
>;
export type WorkflowRunFinished = Event<
  'WorkflowRunFinished',
  About<{
    status: 'completed' | 'failed' | 'stopped';
    /** Null if the run is completed. */
    reason: WorkflowRunReason | null;
    error: string | null;
  }>
>;
/** The run was purged. The events of its steps and its blobs are deleted afterwards. */
export type WorkflowRunPurged = Event<
  'WorkflowRunPurged',
  About<{
    workflowId: string | null;
    ownerId: string;
    blobs: readonly string[];
    artifactIds: readonly string[];
    purgedAt: string;
  }>
>;

export type WorkflowRunEvent =
  | WorkflowRunStarted
  | NodeStarted
  | NodeCompleted
  | NodeWaiting
  | NodeFailed
  | WorkflowRunFinished
  | WorkflowRunPurged;

export const workflowRunStream = (runId: WorkflowRunId): string => `workflowRun-${runId}`;

/** The id of the workflow run of a turn or of a headless run. It is derived, so a repeated start has the same id. */
export const workflowRunIdOf = (turnId: string): WorkflowRunId => deterministicId('workflow-run', turnId);

/** The id under which a step records its research, derived so that any producer of the step continues the same research. */
export const researchIdOf = (workflowRunId: WorkflowRunId, step: StepNumber): string =>
  deterministicId('workflow-research', workflowRunId, step);
