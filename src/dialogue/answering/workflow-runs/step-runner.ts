import { Rejection } from '../../../kernel/rejection.js';
import { ModelFailed } from '../../../resources/models/model/language-model.port.js';
import { RUN_STEPS_MAX, type WorkflowGraph, type WorkflowNode } from '../../../resources/workflows/workflow-graph.policy.js';
import type { AnswerDelta } from '../loop/answer-delta.js';
import { AnswerFailed } from '../loop/answer-failed.js';
import type { Transcript } from '../loop/transcript.js';
import type { TurnGuard } from '../loop/turn-guard.js';
import { stepNodeOf, followingId, nodeById } from './graph-path.policy.js';
import { guardStep } from './guarded-step.js';
import { NodeResult } from './nodes/node-context.js';
import type { WorkflowNodes } from './nodes/workflow-nodes.js';
import type { RunBook } from './run-book.js';
import type { RunValues } from './run-values.js';
import type { Following, RunStep } from './run/workflow-run.decider.js';
import type { StepContribution, WorkflowRunReason } from './run/workflow-run.events.js';
import { StepCollector } from './step-collector.js';
import { shownVariables, type Waiting, type WorkflowContinuation, type WorkflowSession } from './workflow-session.js';

export const WORKFLOW_FAILED = 'workflow-failed';
const TOO_LONG = `The workflow was ended: a run has at most ${RUN_STEPS_MAX} steps, and this run has not reached an end node.`;
const DEAD_END = 'The workflow was ended: this node has no outgoing edge and is not an end node.';

/** Rejection codes which mean that the producer has lost the turn or the run. They are not failures of a node. */
const OWNERSHIP_LOST: ReadonlySet<string> = new Set([
  'turn-taken',
  'turn-stopping',
  'run-over',
  'run-attempt-superseded',
  'workflow-run-over',
]);

/** Runs the steps of workflows. The end of each step is recorded before it is shown. */
export class StepRunner {
  constructor(
    private readonly values: RunValues,
    private readonly nodes: WorkflowNodes,
  ) {}

  /** Runs a step. Returns false if the run cannot continue now because it paused or was stopped. */
  async *run(session: WorkflowSession, step: RunStep): AsyncGenerator<AnswerDelta, boolean> {
    const { transcript, run, graph, book, state, waiting } = session;
    const node = nodeById(graph, step.nodeId)!;
    const resumed = waiting?.workflow.step === step.step ? waiting : undefined;
    const before = resumed && run.guard ? reopened(resumed, run.guard, transcript) : resumed;
    const made = new StepCollector(before?.workflow.made);
    const result = new NodeResult();
    const tools = book.run.started!.tools;
    const followsText = book.run.steps.some(
      ({ ended }) => ended && 'contribution' in ended && ended.contribution.answer !== null,
    );
    // The text of an end node is complete when it is yielded. It is recorded before it is shown, so that it is never shown in
    // part.
    const unshown: AnswerDelta[] = [];
    const { workflowRunId } = book;
    const context = { workflowRunId, step, transcript, run, state, tools, resumedAfter: before?.text, followsText, result };
    // The text of a structured answer is not journaled before its end, so it is yielded again.
    if (resumed?.workflow.made.answer && transcript.asked.settings.responseSchema)
      yield { type: 'text', text: resumed.workflow.made.answer };
    try {
      for await (const delta of this.nodes.run(node, context)) {
        made.note(delta);
        if (delta.type === 'pause') return yield* this.pause(session, step, delta, made);
        if (node.type === 'end' && delta.type === 'text') unshown.push(delta);
        else yield delta;
      }
      if (run.signal.aborted) return false;
      if (run.guard) await guardStep(run.guard, result, made);
    } catch (error) {
      if (run.signal.aborted) return false;
      const failed = failureOf(error);
      if (!failed) throw error;
      if (run.guard) await guardStep(run.guard, result, made);
      const failure = run.guard?.masked(failed.failure) ?? failed.failure;
      yield* this.fail(session, step, { result, made, ...failed, failure, reason: 'node_failed' });
      return true;
    }
    for (const text of result.notices) {
      const notice: AnswerDelta = { type: 'notice', text };
      made.note(notice);
      yield notice;
    }
    const onward = following(graph, node, step, result);
    if (onward.next) yield* this.complete(session, step, { result, made, unshown }, onward.next);
    else yield* this.fail(session, step, { result, made, code: WORKFLOW_FAILED, ...onward });
    return true;
  }

  /** Records that the step waits, and pauses the turn with a continuation that names the step. */
  private async *pause(
    { book, frames, run }: WorkflowSession,
    step: RunStep,
    pause: Extract<AnswerDelta, { type: 'pause' }>,
    made: StepCollector,
  ): AsyncGenerator<AnswerDelta, false> {
    if (run.guard) made.rewrite({ answer: run.guard.masked(made.soFar.answer), thought: run.guard.masked(made.soFar.thought) });
    await book.wait(
      step,
      pause.calls.map(({ callId }) => callId),
    );
    const workflow: Waiting = { step: step.step, framesSaid: frames.count, made: made.soFar };
    const continuation = JSON.stringify({ ...(JSON.parse(pause.continuation) as object), workflow });
    yield { ...pause, continuation };
    return false;
  }

  private async *complete(
    session: WorkflowSession,
    step: RunStep,
    { result, made, unshown }: Readonly<{ result: NodeResult; made: StepCollector; unshown: readonly AnswerDelta[] }>,
    following: Following,
  ): AsyncGenerator<AnswerDelta> {
    const { book, frames, state } = session;
    // All texts of the step must be journaled before it is recorded as completed, because another producer does not yield them
    // again.
    if (made.isShown && unshown.length === 0) yield { type: 'checkpoint' };
    await book.complete(step, await this.ended(book, result, made), following);
    state.set(result.delta);
    yield* unshown;
    yield* frames.completed(step, await shownVariables(this.values, session, step, result.delta), result.output);
  }

  private async *fail(
    session: WorkflowSession,
    step: RunStep,
    {
      result,
      made,
      code,
      failure,
      reason,
    }: Failed & Readonly<{ result: NodeResult; made: StepCollector; reason: WorkflowRunReason }>,
  ): AsyncGenerator<AnswerDelta> {
    const { book, frames } = session;
    const kept = this.values.keeping(book.workflowRunId);
    if (made.isShown) yield { type: 'checkpoint' };
    const { problems, artifactIds } = result;
    const end = { error: failure, code, stateDelta: await kept.keepAll(result.delta), problems, artifactIds };
    await book.fail(step, { ...end, toolCalls: made.toolCalls, usage: made.soFar.usage }, reason);
    yield* frames.failed(step, await shownVariables(this.values, session, step, result.delta), failure);
  }

  private async ended(book: RunBook, { output, delta, handle, problems, artifactIds }: NodeResult, made: StepCollector) {
    const kept = this.values.keeping(book.workflowRunId);
    const { answer, thought, sources, toolCalls, usage } = made.soFar;
    const contribution: StepContribution = {
      answer: await kept.keepUnlessEmpty(answer),
      thought: await kept.keepUnlessEmpty(thought),
      sources: await kept.keepUnlessEmpty(sources),
      toolCalls: await kept.keepUnlessEmpty(toolCalls),
    };
    return {
      output: output === undefined ? null : await kept.keep(output),
      stateDelta: await kept.keepAll(delta),
      ...(handle !== undefined && { handle }),
      problems,
      toolCalls: made.toolCalls,
      artifactIds,
      contribution,
      usage,
    };
  }
}

/** A step before its pause. The rest of a match that was open at the pause is masked together with it. */
function reopened(step: WorkflowContinuation, guard: TurnGuard, { resumption }: Transcript): WorkflowContinuation {
  const { openMatches = {} } = resumption!.paused;
  const { made } = step.workflow;
  const [answer, thought] = [guard.reopened(made.answer, openMatches.answer), guard.reopened(made.thought, openMatches.thought)];
  return {
    ...step,
    text: guard.reopened(step.text, step.openMatch),
    workflow: { ...step.workflow, made: { ...made, answer, thought } },
  };
}

/** What follows a node: the next step or the end of the run, or the failure if nothing can follow. */
type Onward = Readonly<{ next: Following } | { next: undefined; failure: string; reason: WorkflowRunReason }>;

function following(graph: WorkflowGraph, node: WorkflowNode, { step }: RunStep, { handle }: NodeResult): Onward {
  if (node.type === 'end') return { next: 'end' };
  const id = followingId(graph, node, handle);
  if (id === undefined) return { next: undefined, failure: DEAD_END, reason: 'dead_end' };
  const next = nodeById(graph, id);
  if (!next) return { next: undefined, failure: `Node ${id} not found.`, reason: 'broken_graph' };
  if (step === RUN_STEPS_MAX) return { next: undefined, failure: TOO_LONG, reason: 'step_limit' };
  return { next: { begins: stepNodeOf(next) } };
}

type Failed = Readonly<{ code: string; failure: string }>;

/** The error of a failed node as the user reads it; undefined if the error is not a failure of the node. */
function failureOf(error: unknown): Failed | undefined {
  if (error instanceof AnswerFailed) return { code: error.code, failure: error.message };
  if (error instanceof ModelFailed) return { code: error.failure, failure: error.message };
  if (error instanceof Rejection && !OWNERSHIP_LOST.has(error.code)) return { code: error.code, failure: error.message };
  return undefined;
}
