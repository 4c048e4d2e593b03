import type { Command, Commands } from '../../../kernel/commands.js';
import type { Cause } from '../../../kernel/event-sourcing/events.js';
import { type Folded, type Streams } from '../../../kernel/event-sourcing/streams.js';
import { Rejection } from '../../../kernel/rejection.js';
import { JournalLost, RUN_PATIENCE_MS } from '../../journal/journal.js';
import {
  CompleteNode,
  FailNode,
  FinishWorkflowRun,
  RestartNode,
  StartWorkflowRun,
  WaitInNode,
} from './run/workflow-run.commands.js';
import { type StepNode, type Following, type RunStep, type WorkflowRun, workflowRun } from './run/workflow-run.decider.js';
import {
  type FencingToken,
  type NodeCompleted,
  type NodeFailed,
  type StepNumber,
  type WorkflowRunId,
  type WorkflowRunReason,
  type WorkflowRunStarted,
  workflowRunStream,
} from './run/workflow-run.events.js';

type StepEnd<End extends NodeCompleted | NodeFailed> = Omit<End['data'], 'workflowRunId' | 'step' | 'nodeId' | 'attempt'>;

/**
 * A producer's view of a run: it holds the folded state and appends events after the revision that it last read or wrote. An
 * append throws JournalLost if a later producer continues the run.
 */
export class RunBook {
  private constructor(
    private readonly streams: Streams,
    private readonly commands: Commands,
    readonly workflowRunId: WorkflowRunId,
    private readonly token: FencingToken,
    private readonly cause: Cause,
    private folded: Folded<WorkflowRun>,
  ) {}

  static async open(
    streams: Streams,
    commands: Commands,
    workflowRunId: WorkflowRunId,
    token: FencingToken,
    cause: Cause,
  ): Promise<RunBook> {
    const stream = workflowRunStream(workflowRunId);
    const known = await streams.retryWhileUnavailable(RUN_PATIENCE_MS, () => streams.fold(stream, workflowRun));
    return new RunBook(streams, commands, workflowRunId, token, cause, known);
  }

  get run(): WorkflowRun {
    return this.folded.state;
  }

  step(number: StepNumber): RunStep {
    return this.run.steps[number - 1]!;
  }

  start(started: WorkflowRunStarted['data'], first: StepNode | undefined): Promise<void> {
    return this.append((known) => new StartWorkflowRun(started, first, this.token, known, this.cause));
  }

  /** Begins a new attempt of a step, unless this producer has begun the newest one, or the step or the run has ended. */
  async restart(number: StepNumber): Promise<void> {
    if (this.step(number).fencingToken === this.token) return;
    await this.append((known) => new RestartNode(this.workflowRunId, number, this.token, known, this.cause));
  }

  /** @throws Rejection workflow-run-over */
  complete(step: RunStep, end: StepEnd<NodeCompleted>, following: Following): Promise<void> {
    return this.append((known) => new CompleteNode({ ...this.about(step), ...end }, following, known, this.cause));
  }

  /** @throws Rejection workflow-run-over */
  wait(step: RunStep, callIds: readonly string[]): Promise<void> {
    return this.append((known) => new WaitInNode(this.workflowRunId, step, callIds, known, this.cause));
  }

  /** @throws Rejection workflow-run-over */
  fail(step: RunStep, end: StepEnd<NodeFailed>, reason: WorkflowRunReason): Promise<void> {
    return this.append((known) => new FailNode({ ...this.about(step), ...end }, reason, known, this.cause));
  }

  finish(reason: WorkflowRunReason, error: string): Promise<void> {
    const end = { status: 'failed', reason, error } as const;
    return this.send(() => new FinishWorkflowRun(this.workflowRunId, end, this.cause, this.token));
  }

  private about({ step, nodeId, attempt }: RunStep) {
    return { workflowRunId: this.workflowRunId, step, nodeId, attempt };
  }

  private async append(command: (known: Folded<WorkflowRun>) => Command<Folded<WorkflowRun>>): Promise<void> {
    this.folded = await this.send(() => command(this.folded));
  }

  private send<T>(command: () => Command<T>): Promise<T> {
    return unlessSuperseded(this.streams.retryWhileUnavailable(RUN_PATIENCE_MS, () => this.commands.execute(command())));
  }
}

/** @throws JournalLost if a later producer continues the run */
async function unlessSuperseded<T>(append: Promise<T>): Promise<T> {
  try {
    return await append;
  } catch (error) {
    if (error instanceof Rejection && error.code === 'workflow-step-superseded')
      throw new JournalLost(error.message, { cause: error });
    throw error;
  }
}
