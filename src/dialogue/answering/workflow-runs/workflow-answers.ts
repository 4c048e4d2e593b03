import { Injectable } from '@nestjs/common';
import { Commands } from '../../../kernel/commands.js';
import { Streams } from '../../../kernel/event-sourcing/streams.js';
import { nodeConfigOf } from '../../../resources/workflows/node-config.policy.js';
import type { WorkflowGraph, WorkflowNode } from '../../../resources/workflows/workflow-graph.policy.js';
import { WorkflowGraphs } from '../../../resources/workflows/workflow-graphs.port.js';
import { Toolbox } from '../../../resources/tools/toolbox/toolbox.port.js';
import type { Frame } from '../../journal/message.events.js';
import { Continuations } from '../continuations/continuations.js';
import type { Run } from '../loop/agent-loop.js';
import type { AnswerDelta } from '../loop/answer-delta.js';
import { AnswerFailed } from '../loop/answer-failed.js';
import { withoutJobs } from '../loop/execution-mode.policy.js';
import { GuardrailBlock } from '../loop/guardrail-block.js';
import type { Transcript } from '../loop/transcript.js';
import { stepNodeOf, startNode } from './graph-path.policy.js';
import { inputDocuments, INPUT_DOCUMENTS_MAX, RunState } from './nodes/run-state.js';
import { WorkflowNodes } from './nodes/workflow-nodes.js';
import { replayedStep } from './replayed-step.js';
import { RunBook } from './run-book.js';
import { RunValues } from './run-values.js';
import { workflowRun } from './run/workflow-run.decider.js';
import { type FencingToken, workflowRunIdOf, type WorkflowRunStarted, workflowRunStream } from './run/workflow-run.events.js';
import { sharedHistory } from './shared-history.js';
import { StepRunner, WORKFLOW_FAILED } from './step-runner.js';
import { isWorkflowFrame, WorkflowFrames } from './workflow-frames.js';
import { haveText, sinceLastStep, type WorkflowContinuation, type WorkflowSession } from './workflow-session.js';

const NO_START = 'No start node found in workflow.';
const GONE = 'The workflow of this agent does not exist any more.';
const ENDED = 'The workflow run has ended.';
const GIVEN_UP = 'The answer ended before its workflow.';

/**
 * Composes the answers of workflows. The end of each step is recorded before it is shown. A later producer continues at the first
 * step that is not completed: it neither repeats recorded steps nor shows frames again.
 */
@Injectable()
export class WorkflowAnswers {
  private readonly stepRunner: StepRunner;

  constructor(
    private readonly streams: Streams,
    private readonly commands: Commands,
    private readonly graphs: WorkflowGraphs,
    private readonly toolbox: Toolbox,
    private readonly values: RunValues,
    private readonly continuations: Continuations,
    nodes: WorkflowNodes,
  ) {
    this.stepRunner = new StepRunner(values, nodes);
  }

  /**
   * Also ends the run if the answer is abandoned, for example by a guardrail.
   * @throws AnswerFailed if a node fails; GuardrailBlock
   */
  async *deltas(transcript: Transcript, ofTurn: Run): AsyncGenerator<AnswerDelta> {
    const run: Run = { ...ofTurn, executionMode: withoutJobs(ofTurn.executionMode) };
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
    const session: WorkflowSession = { transcript, run, graph, book, state, frames, waiting };
    yield* frames.run(book.workflowRunId);
    if (isNew) yield* noticesOf(attachments.slice(INPUT_DOCUMENTS_MAX).map(({ filename }) => filename));
    if (book.run.steps.length === 0) {
      await book.finish('broken_graph', NO_START);
      throw new AnswerFailed(WORKFLOW_FAILED, NO_START);
    }
    for (let number = 1; ; number++) {
      yield* frames.running(book.step(number));
      if (!book.step(number).ended) await book.restart(number);
      if (book.step(number).ended) {
        yield* replayedStep(this.values, session, book.step(number));
      } else {
        if (book.run.status !== 'running') throw new AnswerFailed(WORKFLOW_FAILED, book.run.finished?.error ?? ENDED);
        if (!(yield* this.stepRunner.run(session, book.step(number)))) return;
      }
      const { ended } = book.step(number);
      if (ended && 'error' in ended) throw new AnswerFailed(ended.code, ended.error);
      if (book.run.steps.length === number) return;
    }
  }

  /** False if text of a step that is not completed was shown, because it would be written twice. */
  async canContinue(transcript: Transcript, shown: readonly Frame[]): Promise<boolean> {
    if (!haveText(sinceLastStep(shown))) return true;
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
    await book.start(started, first && stepNodeOf(first));
  }

  /** The continuation of a resumed turn; undefined if the turn was not paused. */
  private async waitingIn({ resumption }: Transcript): Promise<WorkflowContinuation | undefined> {
    if (!resumption) return undefined;
    return this.continuations.recall<WorkflowContinuation>(resumption.paused.continuation);
  }
}

function toolsOf(node: WorkflowNode): readonly string[] {
  const config = nodeConfigOf(node);
  return config?.type === 'agent' ? config.tools : [];
}

const noticesOf = (left: readonly string[]): readonly AnswerDelta[] =>
  left.length === 0
    ? []
    : [{ type: 'notice', text: `A workflow takes ${INPUT_DOCUMENTS_MAX} files; these were left out: ${left.join(', ')}` }];
