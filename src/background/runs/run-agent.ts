import { Injectable } from '@nestjs/common';
import { HeadlessAnswering } from '../../dialogue/answering/runner/headless-answering.port.js';
import type { Usage } from '../../dialogue/conversation/conversation.events.js';
import { Commands } from '../../kernel/commands.js';
import type { Cause } from '../../kernel/event-sourcing/events.js';
import { Rejection } from '../../kernel/rejection.js';
import { type Folded, Streams } from '../../kernel/event-sourcing/streams.js';
import { Timing } from '../../kernel/timing.js';
import { RunAdmissions } from '../../work/limits/run-admissions.port.js';
import type { TaskAttempt, TaskRunner } from '../../work/tasks/task-runner.port.js';
import { AbandonAttempt, FailRun, FinishRun, RefuseRun, type RunPins, StartRun } from './run.commands.js';
import { isOver, type Run, run } from './run.decider.js';
import { type RunFinished, runStream } from './run.events.js';
import { RUN_PATIENCE_MS } from './run.policy.js';
import { RunLedger } from './run-ledger.js';
import { RUN_AGENT } from './runs.port.js';

/** The result of a run's task. */
export type RunResult =
  | Readonly<{ status: 'success'; result: RunAnswer }>
  | Readonly<{ status: 'quota_exceeded'; error: string }>;

type RunAnswer = Readonly<{ answer: string; sources: readonly unknown[]; tool_calls: readonly unknown[]; thought: string }>;

const TIMED_OUT_TEXT = 'The run exceeded its time limit.';

/** The progress of a task after its run has started with its settings. */
const SETTLED_PERCENT = 50;

/**
 * Runs agents. Each attempt begins from the start, with the settings of the first attempt, but does not repeat side effects of
 * earlier attempts. If the run has already ended, an attempt returns its outcome.
 */
@Injectable()
export class RunAgent implements TaskRunner {
  readonly kind = RUN_AGENT;

  constructor(
    private readonly streams: Streams,
    private readonly commands: Commands,
    private readonly headless: HeadlessAnswering,
    private readonly admissions: RunAdmissions,
    private readonly timing: Timing,
  ) {}

  async run(task: TaskAttempt): Promise<RunResult> {
    const found = await this.streams.fold(runStream(task.taskId), run);
    const ended = resultOf(found.state) ?? (await this.refused(task, found));
    if (ended) return ended;
    const started = await this.begin(task, found);
    await task.progress(SETTLED_PERCENT);
    return resultOf(await this.finish(task, started))!;
  }

  /** Records the final failure of the task as the end of the run. */
  failed(runId: string, _input: Readonly<Record<string, unknown>>, reason: string, cause: Cause): Promise<void> {
    return this.commands.execute(new FailRun(runId, reason, cause));
  }

  /** Checks limits and quota before the first attempt. A run that has started is not interrupted by them. */
  private async refused({ taskId: runId, ownerId, cause }: TaskAttempt, found: Folded<Run>): Promise<RunResult | undefined> {
    if (found.state.status !== 'queued') return undefined;
    const { agentId } = found.state.queued!;
    const answer = await this.admissions.admit({ runId, stream: runStream(runId), ownerId, agentId }, found.position);
    if (answer.allowed) return undefined;
    return resultOf(await this.commands.execute(new RefuseRun(runId, answer.error, found, cause)));
  }

  private async begin({ taskId: runId, attempt, cause }: TaskAttempt, found: Folded<Run>): Promise<Folded<Run>> {
    const { agentId, ownerId, definition, conversationId } = found.state.queued!;
    const { settings } = found.state;
    const start = (pins: RunPins) => this.commands.execute(new StartRun(runId, attempt, pins, found, cause));
    if (settings) return start({ settings });
    const history = conversationId === undefined ? undefined : await this.headless.historyOf(conversationId, ownerId);
    return start({ settings: await this.headless.resolveSettings(agentId, ownerId, cause, definition?.modelId), history });
  }

  private async finish({ taskId: runId, attempt, cause, signal }: TaskAttempt, started: Folded<Run>): Promise<Run> {
    const { queued, settings, history, effects } = started.state;
    const { ownerId, input, checked, definition } = queued!;
    const { modelId } = settings!;
    const { streams, commands } = this;
    const time = definition ? this.timing.deadline(definition.timeoutMs) : undefined;
    let usage: Usage | null = null;
    let hasAnswered = false;
    try {
      const { parts, error } = await this.headless.answer({
        runId,
        attempt,
        ownerId,
        input,
        ...(checked && { checked }),
        settings: settings!,
        ...(history && { history }),
        ...(definition && { toolAllowlist: definition.toolAllowlist }),
        cause,
        ledger: new RunLedger(streams, commands, { runId, attempt }, cause, started),
        callIdsTaken: new Set(effects.map(({ call }) => call.callId)),
        used: (all) => (usage = all),
        signal: time ? AbortSignal.any([signal, time]) : signal,
      });
      hasAnswered = true;
      const data: RunFinished['data'] = { runId, attempt, ...parts, modelId, usage, error };
      return await streams.retryWhileUnavailable(RUN_PATIENCE_MS, () => commands.execute(new FinishRun(data, cause)));
    } catch (error) {
      // If this append fails too, the original error is still the one that counts.
      await commands.execute(new AbandonAttempt(runId, attempt, { modelId, usage }, cause)).catch(() => undefined);
      if (hasAnswered || !time?.aborted || signal.aborted) throw error;
      await commands.execute(new FailRun(runId, TIMED_OUT_TEXT, cause, 'timeout'));
      throw new Rejection('run-timed-out', TIMED_OUT_TEXT);
    }
  }
}

/** The result of a run; undefined if it has not ended. @throws Rejection run-failed if it has finally failed */
function resultOf(state: Run): RunResult | undefined {
  if (!isOver(state)) return undefined;
  if (state.failure !== null) throw new Rejection('run-failed', state.failure);
  if (state.refusal !== null) return { status: 'quota_exceeded', error: state.refusal };
  if (!state.finished) return undefined;
  const { answer, sources, toolCalls, thought } = state.finished;
  return { status: 'success', result: { answer, sources, tool_calls: toolCalls, thought } };
}
