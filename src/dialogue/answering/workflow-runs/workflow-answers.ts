import { Injectable } from '@nestjs/common';
import { Commands } from '../../../kernel/commands.js';
import { Streams } from '../../../kernel/event-sourcing/streams.js';
import { Rejection } from '../../../kernel/rejection.js';
import { ModelFailed } from '../../../resources/models/model/language-model.port.js';
import { nodeConfigOf } from '../../../resources/workflows/node-config.policy.js';
import { RUN_STEPS_MAX, type WorkflowGraph, type WorkflowNode } from '../../../resources/workflows/workflow-graph.policy.js';
import { WorkflowGraphs } from '../../../resources/workflows/workflow-graphs.port.js';
import { Toolbox } from '../../../resources/tools/toolbox/toolbox.port.js';
import type { Frame } from '../../journal/message.events.js';
import { GuardrailBlock } from '../loop/guardrail-block.js';
import type { Run } from '../loop/agent-loop.js';
import type { AnswerDelta } from '../loop/answer-delta.js';
import { AnswerFailed } from '../loop/answer-failed.js';
import { Continuations } from '../continuations/continuations.js';
import type { Transcript } from '../loop/transcript.js';
import { begunNode, followingId, nodeById, startNode } from './graph-path.policy.js';
import { NodeResult } from './nodes/node-context.js';
import { guardStep } from './guarded-step.js';
import { RunBook } from './run-book.js';
import { inputDocuments, INPUT_DOCUMENTS_MAX, RunState } from './nodes/run-state.js';
import { RunValues } from './run-values.js';
import { sharedHistory } from './shared-history.js';
import { type Made, StepMade } from './step-made.js';
import { isWorkflowFrame, WorkflowFrames } from './workflow-frames.js';
import { WorkflowNodes } from './nodes/workflow-nodes.js';
import type { Following, RunStep } from './run/workflow-run.decider.js';
import type { NodeCompleted, StepContribution, WorkflowRunReason, WorkflowRunStarted } from './run/workflow-run.events.js';
import { workflowRunIdOf } from './run/workflow-run.events.js';

/** Where a paused run waits, beside what its node goes on from. */
type Waiting = Readonly<{ step: number; framesSaid: number; made: Made }>;
/** What a turn goes on from that waits in a node: the text of the node until then stands beside the state of its loop. */
type WorkflowContinuation = Readonly<{ text: string; workflow: Waiting }>;

const FAILED = 'workflow-failed';
const NO_START = 'No start node found in workflow.';
const GONE = 'The workflow of this agent is not there any more.';
const ENDED = 'The workflow run has ended.';
const GIVEN_UP = 'The answer was ended before its workflow.';
const TOO_LONG = `The workflow was ended: a run has at most ${RUN_STEPS_MAX} steps, and none of them was an end.`;
const DEAD_END = 'The workflow was ended: no way leads on from this node, and it is no end.';

/** Refusals that say that the producer has lost the turn, or the run; they are no failures of a node. */
const NO_LONGER_OURS: ReadonlySet<string> = new Set([
  'turn-taken',
  'turn-stopping',
  'run-over',
  'run-attempt-superseded',
  'workflow-run-over',
  'workflow-step-superseded',
]);

/** How a producer runs a workflow: what stays the same from step to step. */
type Session = Readonly<{
  transcript: Transcript;
  run: Run;
  graph: WorkflowGraph;
  book: RunBook;
  state: RunState;
  frames: WorkflowFrames;
  waiting: WorkflowContinuation | undefined;
}>;

/**
 * The answers of workflows. Each step is a fact before its end is shown. What another producer has recorded is not done again, and
 * what it has shown is not said again: the run goes on at the first step that is not completed.
 */
@Injectable()
export class WorkflowAnswers {
  constructor(
    private readonly streams: Streams,
    private readonly commands: Commands,
    private readonly graphs: WorkflowGraphs,
    private readonly toolbox: Toolbox,
    private readonly values: RunValues,
    private readonly continuations: Continuations,
    private readonly nodes: WorkflowNodes,
  ) {}

  /** An answer that is given up on the way, as by a guardrail, ends the run. @throws AnswerFailed once a node has failed; GuardrailBlock */
  async *deltas(transcript: Transcript, run: Run): AsyncGenerator<AnswerDelta> {
    let givenUp: string | undefined = GIVEN_UP;
    try {
      yield* this.steps(transcript, run);
      givenUp = undefined;
    } catch (error) {
      givenUp = error instanceof GuardrailBlock ? error.message : undefined;
      throw error;
    } finally {
      if (givenUp !== undefined && !run.signal.aborted) await this.end(transcript, givenUp);
    }
  }

  private async end(transcript: Transcript, error: string): Promise<void> {
    const book = await this.open(transcript);
    if (book.run.status === 'running') await book.finish('interrupted', error);
  }

  private async *steps(ofTurn: Transcript, run: Run): AsyncGenerator<AnswerDelta> {
    const transcript: Transcript = { ...ofTurn, exchanges: sharedHistory(ofTurn.exchanges) };
    const { workflow, attachments = [] } = transcript.asked.settings;
    const graph = workflow && (await this.graphs.pinned(workflow));
    if (!graph) throw new AnswerFailed('workflow-not-found', GONE);
    const book = await this.open(transcript);
    const isNew = book.run.status === 'unknown';
    if (isNew) await this.start(transcript, graph, book);
    const waiting = await this.waitingIn(transcript);
    const frames = new WorkflowFrames((waiting?.workflow.framesSaid ?? 0) + run.shown.filter(isWorkflowFrame).length);
    const state = new RunState(await this.values.recallAll(book.run.values), transcript.exchanges, attachments);
    const session: Session = { transcript, run, graph, book, state, frames, waiting };
    yield* frames.run(book.workflowRunId);
    if (isNew) yield* noticesOf(attachments.slice(INPUT_DOCUMENTS_MAX).map(({ filename }) => filename));
    if (book.run.steps.length === 0) {
      await book.finish('broken_graph', NO_START);
      throw new AnswerFailed(FAILED, NO_START);
    }
    // A step that was begun with the run itself is this producer's own; others were begun by producers that are gone.
    let isOwn = isNew;
    for (let number = 1; ; number++) {
      yield* frames.running(book.step(number));
      if (book.step(number).ended) {
        yield* this.again(session, book.step(number));
      } else {
        if (book.run.status !== 'running') throw new AnswerFailed(FAILED, book.run.finished?.error ?? ENDED);
        if (!isOwn) await book.restart(number);
        isOwn = true;
        if (!(yield* this.make(session, book.step(number)))) return;
      }
      const { ended } = book.step(number);
      if (ended && 'error' in ended) throw new AnswerFailed(ended.code, ended.error);
      if (book.run.steps.length === number) return;
    }
  }

  /** Text of a step that is not completed would be said twice. */
  async canContinue(transcript: Transcript, shown: readonly Frame[]): Promise<boolean> {
    if (!saysSomething(sinceLastStep(shown))) return true;
    const ends = shown.filter((frame) => frame.type === 'workflow_step' && frame.status !== 'running').length;
    const waiting = await this.waitingIn(transcript);
    const { run } = await this.open(transcript);
    return Boolean(run.steps[(waiting?.workflow.step ?? 1) + ends - 1]?.ended);
  }

  private open({ asked, cause }: Transcript): Promise<RunBook> {
    return RunBook.open(this.streams, this.commands, workflowRunIdOf(asked.turnId), cause);
  }

  private async start({ asked, ownerId, history }: Transcript, graph: WorkflowGraph, book: RunBook): Promise<void> {
    const { conversationId, turnId, question, settings } = asked;
    const { workflow, attachments = [], agentId, configurationOwnerId: workflowOwnerId } = settings;
    const kept = this.values.keeping(book.workflowRunId);
    const tools = [...new Set(graph.nodes.flatMap(toolsOf))];
    const first = startNode(graph);
    const started: WorkflowRunStarted['data'] = {
      workflowRunId: book.workflowRunId,
      workflowId: workflow!.id,
      version: 'version' in workflow! ? workflow.version : null,
      ownerId,
      workflowOwnerId,
      agentId,
      origin: conversationId === turnId ? { kind: 'run', runId: turnId } : { kind: 'turn', conversationId, turnId },
      inputs: await kept.keepAll({ query: question, input_documents: inputDocuments(attachments) }),
      history,
      tools: tools.length > 0 ? await this.toolbox.pin(workflowOwnerId, tools) : [],
    };
    await book.start(started, first && begunNode(first));
  }

  /** Undefined for a turn that did not wait. */
  private async waitingIn({ resumption }: Transcript): Promise<WorkflowContinuation | undefined> {
    if (!resumption) return undefined;
    return this.continuations.recall<WorkflowContinuation>(resumption.paused.continuation);
  }

  /** Makes a step. False: the run goes no further here, because it waits or was stopped. */
  private async *make(session: Session, step: RunStep): AsyncGenerator<AnswerDelta, boolean> {
    const { transcript, run, graph, book, state, frames, waiting } = session;
    const node = nodeById(graph, step.nodeId)!;
    const resumed = waiting?.workflow.step === step.step ? waiting : undefined;
    const made = new StepMade(resumed?.workflow.made);
    const result = new NodeResult();
    const tools = book.run.started!.tools;
    const followsText = book.run.steps.some(
      ({ ended }) => ended && 'contribution' in ended && ended.contribution.answer !== null,
    );
    // The text of the end is whole when it comes: it is recorded before it is shown, so that nothing cuts it off.
    const last: AnswerDelta[] = [];
    const { workflowRunId } = book;
    const context = { workflowRunId, step, transcript, run, state, tools, resumedAfter: resumed?.text, followsText, result };
    // What a structured answer says is held until its end: no journal has it yet.
    if (resumed?.workflow.made.answer && transcript.asked.settings.responseSchema)
      yield { type: 'text', text: resumed.workflow.made.answer };
    try {
      for await (const delta of this.nodes.run(node, context)) {
        made.note(delta);
        if (delta.type === 'pause') return yield* this.pause(session, step, delta, made);
        if (node.type === 'end' && delta.type === 'text') last.push(delta);
        else yield delta;
      }
      if (run.signal.aborted) return false;
      if (run.guard) await guardStep(run.guard, result, made);
    } catch (error) {
      if (run.signal.aborted) return false;
      const failed = failureOf(error);
      if (!failed) throw error;
      if (run.guard) await guardStep(run.guard, result, made);
      const failure = run.guard?.said(failed.failure) ?? failed.failure;
      yield* this.fail(session, step, { result, made, ...failed, failure, reason: 'node_failed' });
      return true;
    }
    for (const text of result.notices) {
      const notice: AnswerDelta = { type: 'notice', text };
      made.note(notice);
      yield notice;
    }
    const following = this.following(graph, node, step, result);
    if (!following.next) {
      const { failure, reason } = following;
      yield* this.fail(session, step, { result, made, code: FAILED, failure, reason });
      return true;
    }
    // What is recorded as made was shown: another producer does not say the texts of a step that is completed.
    if (made.isShown && last.length === 0) yield { type: 'checkpoint' };
    await book.complete(step, await this.ended(book, result, made), following.next);
    state.set(result.delta);
    yield* last;
    yield* frames.completed(step, await this.deltaOf(session, step, result.delta), result.output);
    return true;
  }

  private following(graph: WorkflowGraph, node: WorkflowNode, { step }: RunStep, { handle }: NodeResult): Onward {
    if (node.type === 'end') return { next: 'end' };
    const id = followingId(graph, node, handle);
    if (id === undefined) return { next: undefined, failure: DEAD_END, reason: 'dead_end' };
    const next = nodeById(graph, id);
    if (!next) return { next: undefined, failure: `Node ${id} not found.`, reason: 'broken_graph' };
    if (step === RUN_STEPS_MAX) return { next: undefined, failure: TOO_LONG, reason: 'step_limit' };
    return { next: { begins: begunNode(next) } };
  }

  /** The run waits, the turn pauses: what it goes on from names the step. */
  private async *pause(
    { book, frames, run }: Session,
    step: RunStep,
    pause: Extract<AnswerDelta, { type: 'pause' }>,
    made: StepMade,
  ): AsyncGenerator<AnswerDelta, false> {
    if (run.guard) made.rewrite({ answer: run.guard.said(made.soFar.answer), thought: run.guard.said(made.soFar.thought) });
    await book.wait(
      step,
      pause.calls.map(({ callId }) => callId),
    );
    const workflow: Waiting = { step: step.step, framesSaid: frames.count, made: made.soFar };
    const continuation = JSON.stringify({ ...(JSON.parse(pause.continuation) as object), workflow });
    yield { ...pause, continuation };
    return false;
  }

  private async *fail(
    session: Session,
    step: RunStep,
    { result, made, code, failure, reason }: Failed & Readonly<{ result: NodeResult; made: StepMade; reason: WorkflowRunReason }>,
  ): AsyncGenerator<AnswerDelta> {
    const { book, frames } = session;
    const kept = this.values.keeping(book.workflowRunId);
    if (made.isShown) yield { type: 'checkpoint' };
    const { problems, artifactIds } = result;
    const end = { error: failure, code, stateDelta: await kept.keepAll(result.delta), problems, artifactIds };
    await book.fail(step, { ...end, toolCalls: made.toolCalls, usage: made.soFar.usage }, reason);
    yield* frames.failed(step, await this.deltaOf(session, step, result.delta), failure);
  }

  private async ended(book: RunBook, { output, delta, handle, problems, artifactIds }: NodeResult, made: StepMade) {
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

  /** A step that has ended before: what it adds to the answer, and its end where that was not shown yet. */
  private async *again(session: Session, step: RunStep): AsyncGenerator<AnswerDelta> {
    const { frames, run } = session;
    const { ended } = step;
    if (ended && 'contribution' in ended) yield* this.contributed(session, step, ended);
    if (run.signal.aborted) return;
    const delta = frames.isNextMissing ? await this.values.recallAll(ended!.stateDelta) : {};
    if ('error' in ended!) {
      yield* frames.failed(step, await this.deltaOf(session, step, delta), ended.error);
      return;
    }
    const output = frames.isNextMissing && ended!.output ? await this.values.recall(ended!.output) : null;
    yield* frames.completed(step, await this.deltaOf(session, step, delta), output);
  }

  /** Texts that were shown live are in the journal already; those of an answer without one, or of one that is held, are not. */
  private async *contributed(
    { transcript, waiting, run, frames }: Session,
    { step, nodeType }: RunStep,
    { contribution, usage }: NodeCompleted['data'],
  ): AsyncGenerator<AnswerDelta> {
    const { asked } = transcript;
    const isHeadless = asked.conversationId === asked.turnId;
    const { answer, thought, sources, toolCalls } = contribution;
    const isCutOff = nodeType === 'end' && frames.isNextMissing && !saysSomething(sinceLastStep(run.shown));
    // What was said before a pause was shown with it.
    const isHeld = run.guard?.holdsOutput === true && step >= (waiting?.workflow.step ?? 0);
    const shown = isHeld && step === waiting?.workflow.step ? waiting.workflow.made.answer.length : 0;
    if (answer && (isHeadless || asked.settings.responseSchema || isCutOff || isHeld))
      yield { type: 'text', text: ((await this.values.recall(answer)) as string).slice(shown) };
    if (thought && isHeadless) yield { type: 'thought', text: (await this.values.recall(thought)) as string };
    if (sources) yield { type: 'found', sources: (await this.values.recall(sources)) as Made['sources'] };
    if (toolCalls) {
      for (const record of (await this.values.recall(toolCalls)) as Made['toolCalls']) yield { type: 'tool-call', record };
    }
    // An attempt of a headless run states what it used itself; what was used before a pause is stated with that.
    if (usage && !isHeadless && step > (waiting?.workflow.step ?? 0)) yield { type: 'usage', ...usage };
  }

  /** The first step is shown with what the run began with. */
  private async deltaOf({ book, frames }: Session, { step }: RunStep, delta: Readonly<Record<string, unknown>>) {
    if (step > 1 || !frames.isNextMissing) return delta;
    return { ...(await this.values.recallAll(book.run.started!.inputs)), ...delta };
  }
}

/** Where a run goes from a node that was run. */
type Onward = Readonly<{ next: Following } | { next: undefined; failure: string; reason: WorkflowRunReason }>;
const sinceLastStep = (shown: readonly Frame[]): readonly Frame[] =>
  shown.slice(shown.findLastIndex(({ type }) => type === 'workflow_step') + 1);

const saysSomething = (frames: readonly Frame[]): boolean => frames.some(({ type }) => type === 'answer' || type === 'thought');

type Failed = Readonly<{ code: string; failure: string }>;

/** What the user reads of a node that has failed; undefined where it is not the node that has. */
function failureOf(error: unknown): Failed | undefined {
  if (error instanceof AnswerFailed) return { code: error.code, failure: error.message };
  if (error instanceof ModelFailed) return { code: error.failure, failure: error.message };
  if (error instanceof Rejection && !NO_LONGER_OURS.has(error.code)) return { code: error.code, failure: error.message };
  return undefined;
}

function toolsOf(node: WorkflowNode): readonly string[] {
  const config = nodeConfigOf(node);
  return config?.type === 'agent' ? config.tools : [];
}

const noticesOf = (left: readonly string[]): readonly AnswerDelta[] =>
  left.length === 0
    ? []
    : [{ type: 'notice', text: `A workflow takes ${INPUT_DOCUMENTS_MAX} files; these were left out: ${left.join(', ')}` }];
