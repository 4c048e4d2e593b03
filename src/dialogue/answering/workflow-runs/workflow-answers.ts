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
import { type Following, type RunStep, workflowRun } from './run/workflow-run.decider.js';
import type {
  FencingToken,
  NodeCompleted,
  StepContribution,
  WorkflowRunReason,
  WorkflowRunStarted,
} from './run/workflow-run.events.js';
import { workflowRunIdOf, workflowRunStream } from './run/workflow-run.events.js';

/** The state of a paused run, stored beside the continuation of its node. */
type Waiting = Readonly<{ step: number; framesSaid: number; made: Made }>;
/** The continuation of a paused workflow turn: the node's loop state, and the text that the node had written. */
type WorkflowContinuation = Readonly<{ text: string; workflow: Waiting }>;

const FAILED = 'workflow-failed';
const NO_START = 'No start node found in workflow.';
const GONE = 'The workflow of this agent does not exist any more.';
const ENDED = 'The workflow run has ended.';
const GIVEN_UP = 'The answer ended before its workflow.';
const TOO_LONG = `The workflow was ended: a run has at most ${RUN_STEPS_MAX} steps, and this run has not reached an end node.`;
const DEAD_END = 'The workflow was ended: this node has no outgoing edge and is not an end node.';

/** Rejection codes which mean that the producer has lost the turn or the run. They are not failures of a node. */
const NO_LONGER_OURS: ReadonlySet<string> = new Set([
  'turn-taken',
  'turn-stopping',
  'run-over',
  'run-attempt-superseded',
  'workflow-run-over',
]);

/** The data that stays the same for all steps of a producer's run. */
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
 * Composes the answers of workflows. The end of each step is recorded before it is shown. A later producer continues at the first
 * step that is not completed: it neither repeats recorded steps nor shows frames again.
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

  /**
   * Also ends the run if the answer is abandoned, for example by a guardrail.
   * @throws AnswerFailed if a node fails; GuardrailBlock
   */
  async *deltas(transcript: Transcript, run: Run): AsyncGenerator<AnswerDelta> {
    let givenUp: string | undefined = GIVEN_UP;
    try {
      yield* this.steps(transcript, run);
      givenUp = undefined;
    } catch (error) {
      givenUp = error instanceof GuardrailBlock ? error.message : undefined;
      throw error;
    } finally {
      if (givenUp !== undefined && !run.signal.aborted) await this.end(transcript, run, givenUp);
    }
  }

  private async end(transcript: Transcript, run: Run, error: string): Promise<void> {
    const book = await this.open(transcript, run.fencingToken);
    if (book.run.status === 'running') await book.finish('interrupted', error);
  }

  private async *steps(ofTurn: Transcript, run: Run): AsyncGenerator<AnswerDelta> {
    const transcript: Transcript = { ...ofTurn, exchanges: sharedHistory(ofTurn.exchanges) };
    const { workflow, attachments = [] } = transcript.asked.settings;
    const graph = workflow && (await this.graphs.pinned(workflow));
    if (!graph) throw new AnswerFailed('workflow-not-found', GONE);
    const book = await this.open(transcript, run.fencingToken);
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
    for (let number = 1; ; number++) {
      yield* frames.running(book.step(number));
      if (!book.step(number).ended) await book.own(number);
      if (book.step(number).ended) {
        yield* this.again(session, book.step(number));
      } else {
        if (book.run.status !== 'running') throw new AnswerFailed(FAILED, book.run.finished?.error ?? ENDED);
        if (!(yield* this.make(session, book.step(number)))) return;
      }
      const { ended } = book.step(number);
      if (ended && 'error' in ended) throw new AnswerFailed(ended.code, ended.error);
      if (book.run.steps.length === number) return;
    }
  }

  /** False if text of a step that is not completed was shown, because it would be written twice. */
  async canContinue(transcript: Transcript, shown: readonly Frame[]): Promise<boolean> {
    if (!saysSomething(sinceLastStep(shown))) return true;
    const ends = shown.filter((frame) => frame.type === 'workflow_step' && frame.status !== 'running').length;
    const waiting = await this.waitingIn(transcript);
    const { state: run } = await this.streams.fold(workflowRunStream(workflowRunIdOf(transcript.asked.turnId)), workflowRun);
    return Boolean(run.steps[(waiting?.workflow.step ?? 1) + ends - 1]?.ended);
  }

  private open({ asked, cause }: Transcript, token: FencingToken): Promise<RunBook> {
    return RunBook.open(this.streams, this.commands, workflowRunIdOf(asked.turnId), token, cause);
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

  /** The continuation of a resumed turn; undefined if the turn was not paused. */
  private async waitingIn({ resumption }: Transcript): Promise<WorkflowContinuation | undefined> {
    if (!resumption) return undefined;
    return this.continuations.recall<WorkflowContinuation>(resumption.paused.continuation);
  }

  /** Runs a step. Returns false if the run cannot continue now because it paused or was stopped. */
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
    // The text of an end node is complete when it is yielded. It is recorded before it is shown, so that it is never shown in
    // part.
    const last: AnswerDelta[] = [];
    const { workflowRunId } = book;
    const context = { workflowRunId, step, transcript, run, state, tools, resumedAfter: resumed?.text, followsText, result };
    // The text of a structured answer is not journaled before its end, so it is yielded again.
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
    // All texts of the step must be journaled before it is recorded as completed, because another producer does not yield them
    // again.
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

  /** Records that the step waits, and pauses the turn with a continuation that names the step. */
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

  /** Yields the additions of a step that has already ended, and its end if that is not shown yet. */
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

  /**
   * Yields the recorded additions of a step. Texts are yielded only if they are not journaled, as in headless runs and held
   * answers.
   */
  private async *contributed(
    { transcript, waiting, run, frames }: Session,
    { step, nodeType }: RunStep,
    { contribution, usage }: NodeCompleted['data'],
  ): AsyncGenerator<AnswerDelta> {
    const { asked } = transcript;
    const isHeadless = asked.conversationId === asked.turnId;
    const { answer, thought, sources, toolCalls } = contribution;
    const isCutOff = nodeType === 'end' && frames.isNextMissing && !saysSomething(sinceLastStep(run.shown));
    // Text before a pause was shown with the pause.
    const isHeld = run.guard?.holdsOutput === true && step >= (waiting?.workflow.step ?? 0);
    const shown = isHeld && step === waiting?.workflow.step ? waiting.workflow.made.answer.length : 0;
    if (answer && (isHeadless || asked.settings.responseSchema || isCutOff || isHeld))
      yield { type: 'text', text: ((await this.values.recall(answer)) as string).slice(shown) };
    if (thought && isHeadless) yield { type: 'thought', text: (await this.values.recall(thought)) as string };
    if (sources) yield { type: 'found', sources: (await this.values.recall(sources)) as Made['sources'] };
    if (toolCalls) {
      for (const record of (await this.values.recall(toolCalls)) as Made['toolCalls']) yield { type: 'tool-call', record };
    }
    // Each attempt of a headless run counts only its own usage. The usage before a pause was counted with the pause.
    if (usage && !isHeadless && step > (waiting?.workflow.step ?? 0)) yield { type: 'usage', ...usage };
  }

  /** The variables that the frame of a step shows. The first step also shows the inputs of the run. */
  private async deltaOf({ book, frames }: Session, { step }: RunStep, delta: Readonly<Record<string, unknown>>) {
    if (step > 1 || !frames.isNextMissing) return delta;
    return { ...(await this.values.recallAll(book.run.started!.inputs)), ...delta };
  }
}

/** What follows a node: the next step or the end of the run, or the failure if nothing can follow. */
type Onward = Readonly<{ next: Following } | { next: undefined; failure: string; reason: WorkflowRunReason }>;
const sinceLastStep = (shown: readonly Frame[]): readonly Frame[] =>
  shown.slice(shown.findLastIndex(({ type }) => type === 'workflow_step') + 1);

const saysSomething = (frames: readonly Frame[]): boolean => frames.some(({ type }) => type === 'answer' || type === 'thought');

type Failed = Readonly<{ code: string; failure: string }>;

/** The error of a failed node as the user reads it; undefined if the error is not a failure of the node. */
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
