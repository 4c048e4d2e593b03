import { expect, jest } from '@jest/globals';
import { EndJobHandler, ReportJobProgressHandler, StartJobHandler } from '../../src/background/jobs/job.commands.js';
import { job } from '../../src/background/jobs/job.decider.js';
import { jobStream } from '../../src/background/jobs/job.events.js';
import { JobOptions } from '../../src/background/jobs/job-options.js';
import { jobIdOf } from '../../src/background/jobs/job.policy.js';
import { JobRunner } from '../../src/background/jobs/job-runner.js';
import type { LongCall } from '../../src/dialogue/answering/loop/background-calls.port.js';
import type { CalledTool } from '../../src/dialogue/conversation/conversation.events.js';
import { Streams } from '../../src/kernel/event-sourcing/streams.js';
import { InProcessKeyValue } from '../../src/platform/messaging/key-value/in-process-key-value.js';
import { InProcessSignals } from '../../src/platform/messaging/signals/in-process-signals.js';
import { systemIds } from '../../src/platform/system-ids.js';
import { systemTiming } from '../../src/platform/system-timing.js';
import { type Background, ToolFailed, type ToolReport } from '../../src/resources/tools/toolbox/tool-kind.port.js';
import { commandsOver } from './commands-over.js';
import { InMemoryBlobs } from './in-memory-blobs.js';
import { InMemoryEventStore } from './in-memory-event-store.js';
import { cause } from './turns.js';

export const YIELD_MS = 30_000;
export const JOB_MS = 1_000_000;
export const STALE_MS = 60_000;

/** Work that ends when the test ends it, or when it is aborted. */
export function scriptedWork({ stopsWhenTold = true } = {}) {
  const ends = { resolve: (_: unknown): void => undefined, reject: (_: Error): void => undefined };
  let until: AbortSignal | undefined;
  let told: Background | undefined;
  const perform = (signal: AbortSignal, background?: Background) =>
    new Promise((resolve, reject) => {
      told = background;
      Object.assign(ends, { resolve, reject });
      until = signal;
      if (stopsWhenTold) signal.addEventListener('abort', () => reject(new ToolFailed('The call was stopped.')));
    });
  return {
    perform,
    ends,
    isStopped: () => until?.aborted ?? false,
    report: (report: ToolReport) => told!.report(report),
  };
}

let calls = 0;
/** A call of a tool by alice, with the fields of the test. */
export function longCall(more: Partial<Omit<LongCall, 'call'>> & Partial<CalledTool> = {}): LongCall {
  const { userId = 'alice', conversationId = 'c1', turnId = 't1', hasEffects = false, ...tool } = more;
  const call: CalledTool = {
    callId: `k${++calls}`,
    toolId: 'tool-1',
    toolName: 'api_tool',
    actionName: 'build',
    name: 'build',
    arguments: { year: 2025 },
    argumentsSha256: '',
    ...tool,
  };
  return { call, hasEffects, userId, agentId: null, conversationId, turnId, cause };
}
export const jobIdOfCall = ({ turnId, call }: LongCall) => jobIdOf(turnId, call.callId);

export const passTime = (ms: number) => jest.advanceTimersByTimeAsync(ms);
export const neverAborted = () => new AbortController().signal;

/** The result or error of a call, once it has one. */
export function outcomeOf(run: Promise<unknown>) {
  const answer: { value?: unknown; error?: unknown } = {};
  run.then(
    (value) => (answer.value = value),
    (error: unknown) => (answer.error = error),
  );
  return answer;
}

/** Processes that run jobs over the same stores, under fake timers. */
export class JobProcesses {
  /** Their clock, and its error. */
  readonly clock = { offMs: 0, now: () => new Date(Date.now() + this.clock.offMs) };
  readonly store = new InMemoryEventStore();
  readonly streams = new Streams(this.store, systemTiming);
  readonly keyValue = new InProcessKeyValue();
  readonly signals = new InProcessSignals();
  readonly blobs = new InMemoryBlobs();

  processOf(more: Partial<JobOptions['settings']> = {}): JobRunner {
    const { clock, streams, signals, blobs } = this;
    const commands = commandsOver(
      new StartJobHandler(streams),
      new ReportJobProgressHandler(streams),
      new EndJobHandler(streams, clock),
    );
    return new JobRunner(
      { streams, commands, signals, blobs, clock, timing: systemTiming, ids: systemIds },
      this.keyValue,
      new JobOptions({
        enabled: true,
        yieldMs: YIELD_MS,
        jobMsMax: JOB_MS,
        staleMs: STALE_MS,
        perConversationMax: 2,
        perUserMax: 5,
        perProcessMax: 16,
        autoResume: true,
        retentionMs: 1,
        shutdownMs: 1,
        ...more,
      }),
    );
  }

  async stateOf(call: LongCall) {
    return (await this.streams.fold(jobStream(jobIdOfCall(call)), job)).state;
  }

  /** A call that has become a job. */
  async jobOf(runner: JobRunner, call = longCall(), { perform, ...rest } = scriptedWork(), signal = neverAborted()) {
    const answer = outcomeOf(runner.run(call, signal, perform));
    await passTime(YIELD_MS);
    expect(answer.value).toMatchObject({ status: 'running', job_id: jobIdOfCall(call) });
    return { call, ...rest };
  }
}
