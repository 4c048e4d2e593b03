import type { BlobRef } from '../../../../kernel/blobs.js';
import type { Event } from '../../../../kernel/event-sourcing/events.js';
import { deterministicId } from '../../../../kernel/ids.js';
import type { Usage } from '../../../conversation/conversation.events.js';
import type { ToolCallRecord } from '../../../conversation/tool-call.policy.js';

export type WorkflowRunId = string;

/** A place in the order of a run: 1 is the first. A node that is visited again is another step. */
export type StepNumber = number;

/** A value of a run's state, as JSON. A large one is a blob of its own, which names the run and goes with it. */
export type StoredValue = Readonly<{ value: unknown } | { blob: BlobRef }>;

/** Values by the names of their variables. */
export type StoredValues = Readonly<Record<string, StoredValue>>;

/** What set a run off: a turn of a conversation, or a headless run of its agent. */
export type WorkflowRunOrigin =
  Readonly<{ kind: 'turn'; conversationId: string; turnId: string }> | Readonly<{ kind: 'run'; runId: string }>;

/** What a node has called, as its step tells of it. */
export type StepToolCall = Pick<ToolCallRecord, 'tool_name' | 'action_name' | 'status'> & Readonly<{ call_id: string }>;

/** What a step adds to the answer. Another producer adds it from here when the first could not show it any more. */
export type StepContribution = Readonly<{
  answer: StoredValue | null;
  thought: StoredValue | null;
  sources: StoredValue | null;
  toolCalls: StoredValue | null;
}>;

/** Why a run is over. */
export type WorkflowRunReason =
  | 'node_failed'
  /** As many steps as a run may have were made, and none of them was an end. */
  | 'step_limit'
  /** A node that is no end leads nowhere. */
  | 'dead_end'
  /** The graph has no start, or names a node that it does not have. */
  | 'broken_graph'
  | 'stopped'
  /** Its turn or its headless run ended before it: the producer died, or another failure cut it off. */
  | 'interrupted'
  /** What a step waited for was not decided in time, or the conversation went on without it. */
  | 'expired'
  | 'moved_on'
  | 'conversation_deleted';

type About<More = unknown> = { workflowRunId: WorkflowRunId } & More;
type AboutStep<More = unknown> = About<{ step: StepNumber; nodeId: string; attempt: number } & More>;

/** A graph begins to run, at one of its versions, with the tools as they are then. Its chat history is that of the conversation up to the revision. */
export type WorkflowRunStarted = Event<
  'WorkflowRunStarted',
  About<{
    /** Null, both: a graph that came with the question and was never saved. */
    workflowId: string | null;
    version: number | null;
    /** For whom it runs. */
    ownerId: string;
    /** Whose workflow, tools and sources it uses. */
    workflowOwnerId: string;
    agentId: string | null;
    origin: WorkflowRunOrigin;
    inputs: StoredValues;
    history: Readonly<{ conversationId: string; revision: number }> | null;
    tools: readonly Readonly<{ toolId: string; revision: number }>[];
  }>
>;
/** A producer begins a step, or begins it anew after another was lost: from here on only this attempt ends it. */
export type NodeStarted = Event<'NodeStarted', AboutStep<{ nodeType: string; title: string }>>;
/** The step is made: it is never made again. */
export type NodeCompleted = Event<
  'NodeCompleted',
  AboutStep<{
    /** Null: the node has no output. */
    output: StoredValue | null;
    stateDelta: StoredValues;
    /** The branch that a condition chose. */
    handle?: string;
    /** What went wrong and did not stop the node: expressions that could not be evaluated, templates that could not be rendered. */
    problems: readonly string[];
    toolCalls: readonly StepToolCall[];
    artifactIds: readonly string[];
    contribution: StepContribution;
    usage: Usage | null;
  }>
>;
/** The step waits until its calls are decided on in the conversation. */
export type NodeWaiting = Event<'NodeWaiting', AboutStep<{ callIds: readonly string[] }>>;
export type NodeFailed = Event<
  'NodeFailed',
  AboutStep<{
    /** Written for users; `code` is in kebab-case. */
    error: string;
    code: string;
    /** What it had changed before it failed. */
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
    /** Null: completed. */
    reason: WorkflowRunReason | null;
    error: string | null;
  }>
>;
/** Its workflow was deleted: its steps go, with their blobs. */
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
  WorkflowRunStarted | NodeStarted | NodeCompleted | NodeWaiting | NodeFailed | WorkflowRunFinished | WorkflowRunPurged;

export const workflowRunStream = (runId: WorkflowRunId): string => `workflowRun-${runId}`;

/** The run of a turn, or of a headless run: started again, it is the same one. */
export const workflowRunIdOf = (turnId: string): WorkflowRunId => deterministicId('workflow-run', turnId);

/** Under which id a step of a run records its research: whoever makes the step goes on with it. */
export const researchIdOf = (workflowRunId: WorkflowRunId, step: StepNumber): string =>
  deterministicId('workflow-research', workflowRunId, step);
