import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import {
  JOB_MS,
  jobIdOfCall,
  JobProcesses,
  longCall,
  neverAborted,
  outcomeOf,
  passTime,
  scriptedWork,
  STALE_MS,
  YIELD_MS,
} from '../../../test/support/job-processes.js';
import { cause } from '../../../test/support/turns.js';
import type { LongCall } from '../../dialogue/answering/loop/background-calls.port.js';
import { BlobsUnavailable } from '../../kernel/blobs.js';
import { newId } from '../../kernel/ids.js';
import { KeyValueUnavailable } from '../../kernel/key-value.js';
import { isHeld } from '../../kernel/lease.js';
import { type Background, ToolFailed } from '../../resources/tools/toolbox/tool-kind.port.js';
import { keptResult } from './job-result.js';
import { endJob, job, requestCancel } from './job.decider.js';
import { jobStream } from './job.events.js';
import { cancelSubject, ERROR_CHARACTERS_MAX, jobLease } from './job.policy.js';
import { CANCEL_POLL_MS, LATE_WORK_MS_MAX } from './running-job.js';

let jobs: JobProcesses;

beforeEach(() => {
  jest.useFakeTimers({ now: new Date('2026-01-01T00:00:00Z'), doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask'] });
  jobs = new JobProcesses();
});
afterEach(() => {
  jest.useRealTimers();
});

describe('the progress that a tool reports', () => {
  const typesOf = async (call: LongCall) => {
    const types: string[] = [];
    for await (const page of jobs.store.read(jobStream(jobIdOfCall(call)))) types.push(...page.map(({ type }) => type));
    return types;
  };

  it('is recorded from time to time, including reports before the job began, and not after its end', async () => {
    const call = longCall();
    const { perform, ends, report } = scriptedWork();
    void jobs.processOf().run(call, neverAborted(), perform);
    report({ progress: 1, total: 3, message: 'Reading.' });
    await passTime(YIELD_MS + CANCEL_POLL_MS);
    expect((await jobs.stateOf(call)).progress).toEqual({
      report: { progress: 1, total: 3, message: 'Reading.' },
      outputTail: 'Reading.',
    });
    for (let said = 0; said < 100; said++) report({ progress: 2 + said / 100 });
    await passTime(3 * CANCEL_POLL_MS);
    expect((await jobs.stateOf(call)).progress?.report).toEqual({ progress: 2.99 });
    report({ progress: 3 });
    ends.resolve({ done: 1 });
    await passTime(2 * CANCEL_POLL_MS);
    expect(await typesOf(call)).toEqual(['JobStarted', 'JobProgressed', 'JobProgressed', 'JobCompleted']);
  });

  it('is recorded later if the log was unavailable', async () => {
    const { call, report } = await jobs.jobOf(jobs.processOf());
    const read = jobs.store.read.bind(jobs.store);
    jobs.store.read = () => {
      throw new Error('Away.');
    };
    report({ progress: 1 });
    await passTime(CANCEL_POLL_MS);
    jobs.store.read = read;
    await passTime(CANCEL_POLL_MS);
    expect((await jobs.stateOf(call)).progress?.report).toEqual({ progress: 1 });
  });
});

describe('a call', () => {
  it('that ends in time returns its result and becomes no job', async () => {
    const runner = jobs.processOf();
    const call = longCall();
    const { perform, ends } = scriptedWork();
    const answer = outcomeOf(runner.run(call, neverAborted(), perform));
    await passTime(YIELD_MS - 1);
    ends.resolve({ done: 1 });
    await passTime(0);
    expect(answer).toEqual({ value: { done: 1 } });
    expect((await jobs.stateOf(call)).started).toBeNull();
    expect(await jobs.keyValue.keys('')).toEqual([]);
  });

  it('that takes longer returns a job that is recorded by then', async () => {
    const runner = jobs.processOf();
    const call = longCall({ hasEffects: true });
    const answer = outcomeOf(runner.run(call, neverAborted(), scriptedWork().perform));
    await passTime(YIELD_MS - 1);
    expect(answer).toEqual({});
    await passTime(1);
    expect(answer.value).toEqual({
      status: 'running',
      job_id: jobIdOfCall(call),
      started_as: 'background',
      elapsed_s: 30,
      note: expect.stringContaining('check_job'),
    });
    expect((await jobs.stateOf(call)).started).toEqual({
      jobId: jobIdOfCall(call),
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
    expect(await isHeld(jobs.keyValue, jobLease(jobIdOfCall(call)))).toBe(true);
  });

  it('of an internal tool, or with jobs disabled, is waited for', async () => {
    const others = [
      outcomeOf(jobs.processOf().run(longCall({ toolName: 'memory' }), neverAborted(), scriptedWork().perform)),
      outcomeOf(jobs.processOf({ enabled: false }).run(longCall(), neverAborted(), scriptedWork().perform)),
    ];
    await passTime(3 * YIELD_MS);
    expect(others).toEqual([{}, {}]);
  });

  it('that fails in time throws its error', async () => {
    const { perform, ends } = scriptedWork();
    const answer = outcomeOf(jobs.processOf().run(longCall(), neverAborted(), perform));
    ends.reject(new ToolFailed('No.'));
    await passTime(0);
    expect(answer.error).toEqual(new ToolFailed('No.'));
  });

  it('is stopped with its answer while it is waited for', async () => {
    const answering = new AbortController();
    const { perform } = scriptedWork();
    const answer = outcomeOf(jobs.processOf().run(longCall(), answering.signal, perform));
    await passTime(1);
    answering.abort('stopped');
    await passTime(0);
    expect(answer.error).toEqual(new ToolFailed('The call was stopped.'));
  });

  it('is waited for while the store of leases is unavailable, and then becomes a job', async () => {
    const create = jest.spyOn(jobs.keyValue, 'create').mockRejectedValueOnce(new KeyValueUnavailable('away'));
    const call = longCall();
    const answer = outcomeOf(jobs.processOf().run(call, neverAborted(), scriptedWork().perform));
    await passTime(YIELD_MS);
    expect([answer, create.mock.calls.length]).toEqual([{}, 1]);
    await passTime(YIELD_MS);
    expect(answer.value).toMatchObject({ elapsed_s: 60 });
  });

  it('that was a job of another process is waited for', async () => {
    const { call } = await jobs.jobOf(jobs.processOf());
    await jobs.keyValue.delete(jobLease(jobIdOfCall(call)));
    const again = outcomeOf(jobs.processOf().run(call, neverAborted(), scriptedWork().perform));
    await passTime(3 * YIELD_MS);
    expect(again).toEqual({});
    expect(await isHeld(jobs.keyValue, jobLease(jobIdOfCall(call)))).toBe(false);
  });
});

it('a call gets a signal when it becomes a job, and the maximum duration', async () => {
  let told: Background | undefined;
  const perform = (_: AbortSignal, background?: Background) => ((told = background), new Promise(() => undefined));
  void jobs.processOf().run(longCall(), neverAborted(), perform);
  await passTime(YIELD_MS - 1);
  expect([told!.msMax, told!.begun.aborted]).toEqual([JOB_MS, false]);
  await passTime(1);
  expect(told!.begun.aborted).toBe(true);
});

describe('a call waits without a free slot', () => {
  it.each([
    ['in its conversation', { perConversationMax: 2, perUserMax: 9 }, () => ({ conversationId: 'c1' }), 2],
    ['of its user', { perConversationMax: 9, perUserMax: 5 }, () => ({ conversationId: newId() }), 5],
    ['in its process', { perProcessMax: 3 }, () => ({ conversationId: newId(), userId: newId() }), 3],
  ])('%s, and becomes a job when a slot is free', async (_, limits, another, room) => {
    const runner = jobs.processOf(limits);
    const begun = [];
    for (let count = 0; count < room; count++) begun.push(await jobs.jobOf(runner, longCall(another())));
    const answer = outcomeOf(runner.run(longCall(another()), neverAborted(), scriptedWork().perform));
    await passTime(2 * YIELD_MS);
    expect(answer).toEqual({});
    begun[0]!.ends.resolve('done');
    await passTime(YIELD_MS);
    expect(answer.value).toMatchObject({ status: 'running' });
  });

  it('while calls of another conversation and of another process become jobs', async () => {
    const runner = jobs.processOf({ perConversationMax: 1 });
    await jobs.jobOf(runner);
    await jobs.jobOf(runner, longCall({ conversationId: 'c2' }));
    await jobs.jobOf(jobs.processOf(), longCall({ conversationId: 'c1', userId: 'alice' }));
  });
});

describe('a job', () => {
  it('that ends stores its result and releases its slots and its lease', async () => {
    const { call, ends } = await jobs.jobOf(jobs.processOf());
    ends.resolve({ rows: 7 });
    await passTime(0);
    const { end } = await jobs.stateOf(call);
    expect(end).toMatchObject({ type: 'JobCompleted', data: { endedAt: '2026-01-01T00:00:30.000Z' } });
    expect(end?.type === 'JobCompleted' && (await keptResult(jobs.blobs, end.data.result))).toEqual({ value: { rows: 7 } });
    expect(await jobs.keyValue.keys('')).toEqual([]);
  });

  it('retries to store its result while the disk is full, until its deadline', async () => {
    const put = jobs.blobs.put.bind(jobs.blobs);
    const full = () => Promise.reject(new BlobsUnavailable('full', { cause: Object.assign(new Error(), { code: 'ENOSPC' }) }));
    jobs.blobs.put = full;
    const [patient, late] = [
      await jobs.jobOf(jobs.processOf()),
      await jobs.jobOf(jobs.processOf(), longCall({ conversationId: 'c2' })),
    ];
    patient.ends.resolve({ rows: 7 });
    await passTime(60_000);
    expect((await jobs.stateOf(patient.call)).end).toBeNull();
    jobs.blobs.put = put;
    await passTime(1_000);
    expect((await jobs.stateOf(patient.call)).end).toMatchObject({ type: 'JobCompleted' });
    jobs.blobs.put = full;
    late.ends.resolve({ rows: 7 });
    await passTime(JOB_MS + LATE_WORK_MS_MAX);
    expect((await jobs.stateOf(late.call)).end).toMatchObject({ type: 'JobFailed' });
  });

  it.each([
    ['says so', (ends: ReturnType<typeof scriptedWork>['ends']) => ends.reject(new ToolFailed('No card.')), 'No card.'],
    [
      'answers so',
      (ends: ReturnType<typeof scriptedWork>['ends']) => ends.resolve({ error: 'No card.' }),
      '{"error":"No card."}',
    ],
    ['breaks', (ends: ReturnType<typeof scriptedWork>['ends']) => ends.reject(new Error('secret')), 'an unknown reason'],
  ])('whose tool failed and %s has failed', async (_, fail, text) => {
    Logger.overrideLogger(false);
    const { call, ends } = await jobs.jobOf(jobs.processOf());
    fail(ends);
    await passTime(0);
    expect((await jobs.stateOf(call)).end).toMatchObject({
      type: 'JobFailed',
      data: { error: expect.stringContaining(text), reason: 'tool' },
    });
  });

  it('truncates the recorded error', async () => {
    const { call, ends } = await jobs.jobOf(jobs.processOf());
    ends.reject(new ToolFailed('x'.repeat(ERROR_CHARACTERS_MAX + 1)));
    await passTime(0);
    const { end } = await jobs.stateOf(call);
    expect(end?.type === 'JobFailed' && end.data.error).toHaveLength(ERROR_CHARACTERS_MAX);
  });

  it('does not end with the answer that started it', async () => {
    const answering = new AbortController();
    const begun = await jobs.jobOf(jobs.processOf(), longCall(), scriptedWork(), answering.signal);
    answering.abort('stopped');
    await passTime(CANCEL_POLL_MS);
    expect(begun.isStopped()).toBe(false);
    expect((await jobs.stateOf(begun.call)).end).toBeNull();
  });

  it('is stopped at its deadline, and abandoned if its work does not stop', async () => {
    const obedient = await jobs.jobOf(jobs.processOf());
    const stubborn = await jobs.jobOf(jobs.processOf(), longCall(), scriptedWork({ stopsWhenTold: false }));
    await passTime(JOB_MS - YIELD_MS - 1 - YIELD_MS);
    expect(obedient.isStopped()).toBe(false);
    await passTime(1);
    const timeout = { type: 'JobFailed', data: { error: 'The call was stopped after 1000 seconds.', reason: 'timeout' } };
    expect((await jobs.stateOf(obedient.call)).end).toMatchObject(timeout);
    await passTime(YIELD_MS + LATE_WORK_MS_MAX - 1);
    expect((await jobs.stateOf(stubborn.call)).end).toBeNull();
    await passTime(1);
    expect((await jobs.stateOf(stubborn.call)).end).toMatchObject(timeout);
  });

  it.each([
    ['is told', (call: LongCall) => (jobs.signals.publish(cancelSubject(jobIdOfCall(call)), ''), 0)],
    ['finds it in the log', () => CANCEL_POLL_MS],
  ])('that is asked to stop %s, and is cancelled once its work has ended', async (_, afterMs) => {
    const { call, ends, ...begun } = await jobs.jobOf(jobs.processOf(), longCall(), scriptedWork({ stopsWhenTold: false }));
    await jobs.streams.transact(jobStream(jobIdOfCall(call)), job, requestCancel('alice', 'by-owner'), cause);
    await passTime(afterMs(call));
    expect(begun.isStopped()).toBe(true);
    await passTime(10 * LATE_WORK_MS_MAX);
    expect((await jobs.stateOf(call)).end).toBeNull();
    ends.reject(new ToolFailed('The call was stopped.'));
    await passTime(0);
    expect((await jobs.stateOf(call)).end?.type).toBe('JobCancelled');
  });

  it('that ends before a cancellation takes effect is completed', async () => {
    const { call, ends } = await jobs.jobOf(jobs.processOf(), longCall(), scriptedWork({ stopsWhenTold: false }));
    await jobs.streams.transact(jobStream(jobIdOfCall(call)), job, requestCancel('alice', 'by-owner'), cause);
    await passTime(CANCEL_POLL_MS);
    ends.resolve('done');
    await passTime(0);
    expect((await jobs.stateOf(call)).end?.type).toBe('JobCompleted');
  });

  it('is recorded as lost when its lease is lost, and a later result is ignored', async () => {
    const { call, ends, ...begun } = await jobs.jobOf(jobs.processOf(), longCall(), scriptedWork({ stopsWhenTold: false }));
    await jobs.keyValue.delete(jobLease(jobIdOfCall(call)));
    await passTime(STALE_MS);
    expect(begun.isStopped()).toBe(true);
    expect((await jobs.stateOf(call)).end?.type).toBe('JobLost');
    ends.resolve('done');
    await passTime(0);
    expect((await jobs.stateOf(call)).end?.type).toBe('JobLost');
  });

  it('that another process has recorded as lost is stopped', async () => {
    const begun = await jobs.jobOf(jobs.processOf());
    await jobs.streams.transact(jobStream(jobIdOfCall(begun.call)), job, endJob({ type: 'lost' }, new Date()), cause);
    await passTime(CANCEL_POLL_MS);
    expect(begun.isStopped()).toBe(true);
    expect(await jobs.keyValue.keys('')).toEqual([]);
  });
});

describe('a process that shuts down', () => {
  it('lets jobs finish within the grace period, records the others as lost, and starts no more', async () => {
    const runner = jobs.processOf();
    const quick = await jobs.jobOf(runner);
    const slow = await jobs.jobOf(runner);
    const closing = runner.close(5_000);
    const late = outcomeOf(runner.run(longCall(), neverAborted(), scriptedWork().perform));
    quick.ends.resolve('done');
    await passTime(4_000);
    expect((await jobs.stateOf(quick.call)).end?.type).toBe('JobCompleted');
    expect((await jobs.stateOf(slow.call)).end).toBeNull();
    await passTime(YIELD_MS);
    await closing;
    expect((await jobs.stateOf(slow.call)).end?.type).toBe('JobLost');
    expect(late).toEqual({});
    expect(await jobs.keyValue.keys('')).toEqual([]);
  });
});
