import { CommandHandler } from '@nestjs/cqrs';
import { Clock } from '../../../../kernel/clock.js';
import { Command, type Handler } from '../../../../kernel/commands.js';
import type { Cause } from '../../../../kernel/event-sourcing/events.js';
import { type Folded, Streams } from '../../../../kernel/event-sourcing/streams.js';
import {
  type StepNode,
  completeNode,
  failNode,
  finishWorkflowRun,
  type Following,
  purgeWorkflowRun,
  restartNode,
  type RunStep,
  startWorkflowRun,
  waitInNode,
  type WorkflowRun,
  workflowRun,
} from './workflow-run.decider.js';
import {
  type FencingToken,
  type NodeCompleted,
  type NodeFailed,
  type StepNumber,
  type WorkflowRunReason,
  type WorkflowRunStarted,
  workflowRunStream,
} from './workflow-run.events.js';

type Known = Folded<WorkflowRun>;

/** Starts a workflow run. Idempotent. Resolves to the new state of the run, like the other commands that take the known state. */
export class StartWorkflowRun extends Command<Known> {
  constructor(
    readonly started: WorkflowRunStarted['data'],
    readonly first: StepNode | undefined,
    readonly token: FencingToken,
    readonly known: Known,
    readonly cause: Cause,
  ) {
    super();
  }
}

@CommandHandler(StartWorkflowRun)
class StartWorkflowRunHandler implements Handler<StartWorkflowRun> {
  constructor(private readonly streams: Streams) {}

  execute({ started, first, token, known, cause }: StartWorkflowRun): Promise<Known> {
    const stream = workflowRunStream(started.workflowRunId);
    return this.streams.transact(stream, workflowRun, startWorkflowRun(started, first, token), cause, known);
  }
}

/**
 * Starts a new attempt of an open step that a former producer began. Does nothing if the step or the run has ended.
 * @throws Rejection workflow-step-superseded if a later producer has begun a step
 */
export class RestartNode extends Command<Known> {
  constructor(
    readonly workflowRunId: string,
    readonly step: StepNumber,
    readonly token: FencingToken,
    readonly known: Known,
    readonly cause: Cause,
  ) {
    super();
  }
}

@CommandHandler(RestartNode)
class RestartNodeHandler implements Handler<RestartNode> {
  constructor(private readonly streams: Streams) {}

  execute({ workflowRunId, step, token, known, cause }: RestartNode): Promise<Known> {
    const decision = restartNode({ workflowRunId }, step, token);
    return this.streams.transact(workflowRunStream(workflowRunId), workflowRun, decision, cause, known);
  }
}

/**
 * Records that a step is completed and begins the next one in the same append.
 * @throws Rejection workflow-step-superseded, workflow-run-over
 */
export class CompleteNode extends Command<Known> {
  constructor(
    readonly completed: NodeCompleted['data'],
    readonly following: Following,
    readonly known: Known,
    readonly cause: Cause,
  ) {
    super();
  }
}

@CommandHandler(CompleteNode)
class CompleteNodeHandler implements Handler<CompleteNode> {
  constructor(private readonly streams: Streams) {}

  execute({ completed, following, known, cause }: CompleteNode): Promise<Known> {
    const stream = workflowRunStream(completed.workflowRunId);
    return this.streams.record(stream, workflowRun, completeNode(completed, following), cause, known);
  }
}

/** Records that a step waits for decisions on its calls. @throws Rejection workflow-step-superseded, workflow-run-over */
export class WaitInNode extends Command<Known> {
  constructor(
    readonly workflowRunId: string,
    readonly step: RunStep,
    readonly callIds: readonly string[],
    readonly known: Known,
    readonly cause: Cause,
  ) {
    super();
  }
}

@CommandHandler(WaitInNode)
class WaitInNodeHandler implements Handler<WaitInNode> {
  constructor(private readonly streams: Streams) {}

  execute({ workflowRunId, step, callIds, known, cause }: WaitInNode): Promise<Known> {
    const decision = waitInNode({ workflowRunId }, step, callIds);
    return this.streams.record(workflowRunStream(workflowRunId), workflowRun, decision, cause, known);
  }
}

/** Records that a node has failed and ends its run. @throws Rejection workflow-step-superseded, workflow-run-over */
export class FailNode extends Command<Known> {
  constructor(
    readonly failed: NodeFailed['data'],
    readonly reason: WorkflowRunReason,
    readonly known: Known,
    readonly cause: Cause,
  ) {
    super();
  }
}

@CommandHandler(FailNode)
class FailNodeHandler implements Handler<FailNode> {
  constructor(private readonly streams: Streams) {}

  execute({ failed, reason, known, cause }: FailNode): Promise<Known> {
    const stream = workflowRunStream(failed.workflowRunId);
    return this.streams.record(stream, workflowRun, failNode(failed, reason), cause, known);
  }
}

/**
 * Ends a run because its turn or headless run has ended, or because the producer with the token ends it. Does nothing if the run
 * does not exist or has ended. @throws Rejection workflow-step-superseded if a later producer than that one has begun a step
 */
export class FinishWorkflowRun extends Command<void> {
  constructor(
    readonly workflowRunId: string,
    readonly end: Readonly<{ status: 'failed' | 'stopped'; reason: WorkflowRunReason; error: string | null }>,
    readonly cause: Cause,
    readonly token?: FencingToken,
  ) {
    super();
  }
}

@CommandHandler(FinishWorkflowRun)
class FinishWorkflowRunHandler implements Handler<FinishWorkflowRun> {
  constructor(private readonly streams: Streams) {}

  async execute({ workflowRunId, end: { status, reason, error }, cause, token }: FinishWorkflowRun): Promise<void> {
    const decision = finishWorkflowRun({ workflowRunId }, status, reason, error, token);
    await this.streams.record(workflowRunStream(workflowRunId), workflowRun, decision, cause);
  }
}

/** Purges an ended run because its workflow or its conversation was deleted. Does nothing while the run is running. */
export class PurgeWorkflowRun extends Command<void> {
  constructor(
    readonly workflowRunId: string,
    readonly cause: Cause,
  ) {
    super();
  }
}

@CommandHandler(PurgeWorkflowRun)
class PurgeWorkflowRunHandler implements Handler<PurgeWorkflowRun> {
  constructor(
    private readonly streams: Streams,
    private readonly clock: Clock,
  ) {}

  async execute({ workflowRunId, cause }: PurgeWorkflowRun): Promise<void> {
    const decision = purgeWorkflowRun({ workflowRunId }, this.clock.now());
    await this.streams.transact(workflowRunStream(workflowRunId), workflowRun, decision, cause);
  }
}

export const workflowRunHandlers = [
  StartWorkflowRunHandler,
  RestartNodeHandler,
  CompleteNodeHandler,
  WaitInNodeHandler,
  FailNodeHandler,
  FinishWorkflowRunHandler,
  PurgeWorkflowRunHandler,
];
