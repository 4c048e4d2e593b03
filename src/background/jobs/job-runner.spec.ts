import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { commandsOver } from '../../../test/support/commands-over.js';
import { InMemoryBlobs } from '../../../test/support/in-memory-blobs.js';
import { InMemoryEventStore } from '../../../test/support/in-memory-event-store.js';
import { cause } from '../../../test/support/turns.js';
import type { CalledTool } from '../../dialogue/conversation/conversation.events.js';
import { BlobsUnavailable } from '../../kernel/blobs.js';
import { isHeld } from '../../kernel/lease.js';
import { KeyValueUnavailable } from '../../kernel/key-value.js';
import { newId } from '../../kernel/ids.js';
import { Streams } from '../../kernel/event-sourcing/streams.js';
import { InProcessKeyValue } from '../../platform/messaging/key-value/in-process-key-value.js';
import { InProcessSignals } from '../../platform/messaging/signals/in-process-signals.js';
import { type Background, ToolFailed, type ToolReport } from '../../resources/tools/toolbox/tool-kind.port.js';
import type { LongCall } from '../../dialogue/answering/loop/background-calls.port.js';
import { EndJobHandler, ReportJobProgressHandler, StartJobHandler } from './job.commands.js';
import { endJob, job, requestCancel } from './job.decider.js';
import { jobStream } from './job.events.js';
import { cancelSubject, ERROR_CHARACTERS_MAX, jobIdOf, jobLease } from './job.policy.js';
import { JobOptions } from './job-options.js';
import { keptResult } from './job-result.js';
import { JobRunner } from './job-runner.js';
import { CANCEL_POLL_MS, LATE_WORK_MS_MAX } from './running-job.js';
import { systemIds } from '../../platform/system-ids.js';
import { systemTiming } from '../../platform/system-timing.js';

const YIELD_MS = 30_000;
const JOB_MS = 1_000_000;
const STALE_MS = 60_000;

let store: InMemoryEventStore;
let streams: Streams;
let keyValue: InProcessKeyValue;
let signals: InProcessSignals;
let blobs: InMemoryBlobs;

beforeEach(() => {
  jest.useFakeTimers({ now: new Date('2026-01-01T00:00:00Z'), doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask'] });
  store = new InMemoryEventStore();
  streams = new Streams(store, systemTiming);
  keyValue = new InProcessKeyValue();
  signals = new InProcessSignals();
  blobs = new InMemoryBlobs();
});
afterEach(() => {
  jest.useRealTimers();
});

const clock = { now: () => new Date() };
const processOf = (more: Partial<JobOptions['settings']> = {}) =>
  new JobRunner(
    {
      streams,
      commands: commandsOver(
        new StartJobHandler(streams),
        new ReportJobProgressHandler(streams),
        new EndJobHandler(streams, clock),
      ),
      signals,
      blobs,
      clock,
      timing: systemTiming,
      ids: systemIds,
    },
    keyValue,
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

/** Work that ends when the test ends it, or when it is aborted. */
function work({ stopsWhenTold = true } = {}) {
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
function longCall(more: Partial<Omit<LongCall, 'call'>> & Partial<CalledTool> = {}): LongCall {
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
const idOf = ({ turnId, call }: LongCall) => jobIdOf(turnId, call.callId);
const stateOf = async (call: LongCall) => (await streams.fold(jobStream(idOf(call)), job)).state;
const pass = (ms: number) => jest.advanceTimersByTimeAsync(ms);
const never = () => new AbortController().signal;
/** The result or error of a call, once it has one. */
function answered(run: Promise<unknown>) {
  const answer: { value?: unknown; error?: unknown } = {};
  run.then(
    (value) => (answer.value = value),
    (error: unknown) => (answer.error = error),
  );
  return answer;
}
/** A call that has become a job. */
async function jobOf(runner: JobRunner, call = longCall(), { perform, ...rest } = work(), signal = never()) {
  const answer = answered(runner.run(call, signal, perform));
  await pass(YIELD_MS);
  expect(answer.value).toMatchObject({ status: 'running', job_id: idOf(call) });
  return { call, ...rest };
}

describe('the progress that a tool reports', () => {
  const typesOf = async (call: LongCall) => {
    const types: string[] = [];
    for await (const page of store.read(jobStream(idOf(call)))) types.push(...page.map(({ type }) => type));
    return types;
  };

  it('is recorded from time to time, including reports before the job began, and not after its end', async () => {
    const call = longCall();
    const { perform, ends, report } = work();
    void processOf().run(call, never(), perform);
    report({ progress: 1, total: 3, message: 'Reading.' });
    await pass(YIELD_MS + CANCEL_POLL_MS);
    expect((await stateOf(call)).progress).toEqual({
      report: { progress: 1, total: 3, message: 'Reading.' },
      outputTail: 'Reading.',
    });
    for (let said = 0; said < 100; said++) report({ progress: 2 + said / 100 });
    await pass(3 * CANCEL_POLL_MS);
    expect((await stateOf(call)).progress?.report).toEqual({ progress: 2.99 });
    report({ progress: 3 });
    ends.resolve({ done: 1 });
    await pass(2 * CANCEL_POLL_MS);
    expect(await typesOf(call)).toEqual(['JobStarted', 'JobProgressed', 'JobProgressed', 'JobCompleted']);
  });

  it('is recorded later if the log was unavailable', async () => {
    const { call, report } = await jobOf(processOf());
    const read = store.read.bind(store);
    store.read = () => {
      throw new Error('Away.');
    };
    report({ progress: 1 });
    await pass(CANCEL_POLL_MS);
    store.read = read;
    await pass(CANCEL_POLL_MS);
    expect((await stateOf(call)).progress?.report).toEqual({ progress: 1 });
  });
});

describe('a call', () => {
  it('that ends in time returns its result and becomes no job', async () => {
    const runner = processOf();
    const call = longCall();
    const { perform, ends } = work();
    const answer = answered(runner.run(call, never(), perform));
    await pass(YIELD_MS - 1);
    ends.resolve({ done: 1 });
    await pass(0);
    expect(answer).toEqual({ value: { done: 1 } });
    expect((await stateOf(call)).started).toBeNull();
    expect(await keyValue.keys('')).toEqual([]);
  });

  it('that takes longer returns a job that is recorded by then', async () => {
    const runner = processOf();
    const call = longCall({ hasEffects: true });
    const answer = answered(runner.run(call, never(), work().perform));
    await pass(YIELD_MS - 1);
    expect(answer).toEqual({});
    await pass(1);
    expect(answer.value).toEqual({
      status: 'running',
      job_id: idOf(call),
      started_as: 'background',
      elapsed_s: 30,
      note: expect.stringContaining('check_job'),
    });
    expect((await stateOf(call)).started).toEqual({
      jobId: idOf(call),
      conversationId: 'c1',
      ownerId: 'alice',
      turnId: 't1',
      callId: call.call.callId,
      agentId: null,
      toolId: 'tool-1',
      toolName: 'api_tool',
      actionName: 'build',
      arguments: { year: 2025 },
      hasEffects: true,
      runner: runner.id,
      begunAt: '2026-01-01T00:00:00.000Z',
      deadlineAt: '2026-01-01T00:16:40.000Z',
      autoResume: true,
    });
    expect(await isHeld(keyValue, jobLease(idOf(call)))).toBe(true);
  });

  it('of an internal tool, or with jobs disabled, is waited for', async () => {
    const others = [
      answered(processOf().run(longCall({ toolName: 'memory' }), never(), work().perform)),
      answered(processOf({ enabled: false }).run(longCall(), never(), work().perform)),
    ];
    await pass(3 * YIELD_MS);
    expect(others).toEqual([{}, {}]);
  });

  it('that fails in time throws its error', async () => {
    const { perform, ends } = work();
    const answer = answered(processOf().run(longCall(), never(), perform));
    ends.reject(new ToolFailed('No.'));
    await pass(0);
    expect(answer.error).toEqual(new ToolFailed('No.'));
  });

  it('is stopped with its answer while it is waited for', async () => {
    const answering = new AbortController();
    const { perform } = work();
    const answer = answered(processOf().run(longCall(), answering.signal, perform));
    await pass(1);
    answering.abort('stopped');
    await pass(0);
    expect(answer.error).toEqual(new ToolFailed('The call was stopped.'));
  });

  it('is waited for while the store of leases is unavailable, and then becomes a job', async () => {
    const create = jest.spyOn(keyValue, 'create').mockRejectedValueOnce(new KeyValueUnavailable('away'));
    const call = longCall();
    const answer = answered(processOf().run(call, never(), work().perform));
    await pass(YIELD_MS);
    expect([answer, create.mock.calls.length]).toEqual([{}, 1]);
    await pass(YIELD_MS);
    expect(answer.value).toMatchObject({ elapsed_s: 60 });
  });

  it('that was a job of another process is waited for', async () => {
    const { call } = await jobOf(processOf());
    await keyValue.delete(jobLease(idOf(call)));
    const again = answered(processOf().run(call, never(), work().perform));
    await pass(3 * YIELD_MS);
    expect(again).toEqual({});
    expect(await isHeld(keyValue, jobLease(idOf(call)))).toBe(false);
  });
});

it('a call gets a signal when it becomes a job, and the maximum duration', async () => {
  let told: Background | undefined;
  const perform = (_: AbortSignal, background?: Background) => ((told = background), new Promise(() => undefined));
  void processOf().run(longCall(), never(), perform);
  await pass(YIELD_MS - 1);
  expect([told!.msMax, told!.begun.aborted]).toEqual([JOB_MS, false]);
  await pass(1);
  expect(told!.begun.aborted).toBe(true);
});

describe('a call waits without a free slot', () => {
  it.each([
    ['in its conversation', { perConversationMax: 2, perUserMax: 9 }, () => ({ conversationId: 'c1' }), 2],
    ['of its user', { perConversationMax: 9, perUserMax: 5 }, () => ({ conversationId: newId() }), 5],
    ['in its process', { perProcessMax: 3 }, () => ({ conversationId: newId(), userId: newId() }), 3],
  ])('%s, and becomes a job when a slot is free', async (_, limits, another, room) => {
    const runner = processOf(limits);
    const jobs = [];
    for (let count = 0; count < room; count++) jobs.push(await jobOf(runner, longCall(another())));
    const answer = answered(runner.run(longCall(another()), never(), work().perform));
    await pass(2 * YIELD_MS);
    expect(answer).toEqual({});
    jobs[0]!.ends.resolve('done');
    await pass(YIELD_MS);
    expect(answer.value).toMatchObject({ status: 'running' });
  });

  it('while calls of another conversation and of another process become jobs', async () => {
    const runner = processOf({ perConversationMax: 1 });
    await jobOf(runner);
    await jobOf(runner, longCall({ conversationId: 'c2' }));
    await jobOf(processOf(), longCall({ conversationId: 'c1', userId: 'alice' }));
  });
});

describe('a job', () => {
  it('that ends stores its result and releases its slots and its lease', async () => {
    const { call, ends } = await jobOf(processOf());
    ends.resolve({ rows: 7 });
    await pass(0);
    const { end } = await stateOf(call);
    expect(end).toMatchObject({ type: 'JobCompleted', data: { endedAt: '2026-01-01T00:00:30.000Z' } });
    expect(end?.type === 'JobCompleted' && (await keptResult(blobs, end.data.result))).toEqual({ value: { rows: 7 } });
    expect(await keyValue.keys('')).toEqual([]);
  });

  it('retries to store its result while the disk is full, until its deadline', async () => {
    const put = blobs.put.bind(blobs);
    const full = () => Promise.reject(new BlobsUnavailable('full', { cause: Object.assign(new Error(), { code: 'ENOSPC' }) }));
    blobs.put = full;
    const [patient, late] = [await jobOf(processOf()), await jobOf(processOf(), longCall({ conversationId: 'c2' }))];
    patient.ends.resolve({ rows: 7 });
    await pass(60_000);
    expect((await stateOf(patient.call)).end).toBeNull();
    blobs.put = put;
    await pass(1_000);
    expect((await stateOf(patient.call)).end).toMatchObject({ type: 'JobCompleted' });
    blobs.put = full;
    late.ends.resolve({ rows: 7 });
    await pass(JOB_MS + LATE_WORK_MS_MAX);
    expect((await stateOf(late.call)).end).toMatchObject({ type: 'JobFailed' });
  });

  it.each([
    ['says so', (ends: ReturnType<typeof work>['ends']) => ends.reject(new ToolFailed('No card.')), 'No card.'],
    ['answers so', (ends: ReturnType<typeof work>['ends']) => ends.resolve({ error: 'No card.' }), '{"error":"No card."}'],
    ['breaks', (ends: ReturnType<typeof work>['ends']) => ends.reject(new Error('secret')), 'an unknown reason'],
  ])('whose tool failed and %s has failed', async (_, fail, text) => {
    Logger.overrideLogger(false);
    const { call, ends } = await jobOf(processOf());
    fail(ends);
    await pass(0);
    expect((await stateOf(call)).end).toMatchObject({
      type: 'JobFailed',
      data: { error: expect.stringContaining(text), reason: 'tool' },
    });
  });

  it('truncates the recorded error', async () => {
    const { call, ends } = await jobOf(processOf());
    ends.reject(new ToolFailed('x'.repeat(ERROR_CHARACTERS_MAX + 1)));
    await pass(0);
    const { end } = await stateOf(call);
    expect(end?.type === 'JobFailed' && end.data.error).toHaveLength(ERROR_CHARACTERS_MAX);
  });

  it('does not end with the answer that started it', async () => {
    const answering = new AbortController();
    const begun = await jobOf(processOf(), longCall(), work(), answering.signal);
    answering.abort('stopped');
    await pass(CANCEL_POLL_MS);
    expect(begun.isStopped()).toBe(false);
    expect((await stateOf(begun.call)).end).toBeNull();
  });

  it('is stopped at its deadline, and abandoned if its work does not stop', async () => {
    const obedient = await jobOf(processOf());
    const stubborn = await jobOf(processOf(), longCall(), work({ stopsWhenTold: false }));
    await pass(JOB_MS - YIELD_MS - 1 - YIELD_MS);
    expect(obedient.isStopped()).toBe(false);
    await pass(1);
    const timeout = { type: 'JobFailed', data: { error: 'The call was stopped after 1000 seconds.', reason: 'timeout' } };
    expect((await stateOf(obedient.call)).end).toMatchObject(timeout);
    await pass(YIELD_MS + LATE_WORK_MS_MAX - 1);
    expect((await stateOf(stubborn.call)).end).toBeNull();
    await pass(1);
    expect((await stateOf(stubborn.call)).end).toMatchObject(timeout);
  });

  it.each([
    ['is told', (call: LongCall) => (signals.publish(cancelSubject(idOf(call)), ''), 0)],
    ['finds it in the log', () => CANCEL_POLL_MS],
  ])('that is asked to stop %s, and is cancelled once its work has ended', async (_, afterMs) => {
    const { call, ends, ...begun } = await jobOf(processOf(), longCall(), work({ stopsWhenTold: false }));
    await streams.transact(jobStream(idOf(call)), job, requestCancel('alice', 'by-owner'), cause);
    await pass(afterMs(call));
    expect(begun.isStopped()).toBe(true);
    await pass(10 * LATE_WORK_MS_MAX);
    expect((await stateOf(call)).end).toBeNull();
    ends.reject(new ToolFailed('The call was stopped.'));
    await pass(0);
    expect((await stateOf(call)).end?.type).toBe('JobCancelled');
  });

  it('that ends before a cancellation takes effect is completed', async () => {
    const { call, ends } = await jobOf(processOf(), longCall(), work({ stopsWhenTold: false }));
    await streams.transact(jobStream(idOf(call)), job, requestCancel('alice', 'by-owner'), cause);
    await pass(CANCEL_POLL_MS);
    ends.resolve('done');
    await pass(0);
    expect((await stateOf(call)).end?.type).toBe('JobCompleted');
  });

  it('is recorded as lost when its lease is lost, and a later result is ignored', async () => {
    const { call, ends, ...begun } = await jobOf(processOf(), longCall(), work({ stopsWhenTold: false }));
    await keyValue.delete(jobLease(idOf(call)));
    await pass(STALE_MS);
    expect(begun.isStopped()).toBe(true);
    expect((await stateOf(call)).end?.type).toBe('JobLost');
    ends.resolve('done');
    await pass(0);
    expect((await stateOf(call)).end?.type).toBe('JobLost');
  });

  it('that another process has recorded as lost is stopped', async () => {
    const begun = await jobOf(processOf());
    await streams.transact(jobStream(idOf(begun.call)), job, endJob({ type: 'lost' }, new Date()), cause);
    await pass(CANCEL_POLL_MS);
    expect(begun.isStopped()).toBe(true);
    expect(await keyValue.keys('')).toEqual([]);
  });
});

describe('a process that shuts down', () => {
  it('lets jobs finish within the grace period, records the others as lost, and starts no more', async () => {
    const runner = processOf();
    const quick = await jobOf(runner);
    const slow = await jobOf(runner);
    const closing = runner.close(5_000);
    const late = answered(runner.run(longCall(), never(), work().perform));
    quick.ends.resolve('done');
    await pass(4_000);
    expect((await stateOf(quick.call)).end?.type).toBe('JobCompleted');
    expect((await stateOf(slow.call)).end).toBeNull();
    await pass(YIELD_MS);
    await closing;
    expect((await stateOf(slow.call)).end?.type).toBe('JobLost');
    expect(late).toEqual({});
    expect(await keyValue.keys('')).toEqual([]);
  });
});
