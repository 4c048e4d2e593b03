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
import { ToolFailed } from '../../resources/tools/toolbox/tool-kind.port.js';
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

  it.each([
    ['forward', 2 * JOB_MS],
    ['back', -2 * JOB_MS],
  ])('has its time, and no more, although the clock is set %s before the call becomes a job', async (_, byMs) => {
    const call = longCall();
    const { perform } = scriptedWork({ stopsWhenTold: false });
    const answer = outcomeOf(jobs.processOf().run(call, neverAborted(), perform));
    await passTime(YIELD_MS / 2);
    jobs.clock.offMs = byMs;
    await passTime(YIELD_MS / 2);
    expect(answer.value).toMatchObject({ status: 'running', elapsed_s: YIELD_MS / 1_000 });
    await passTime(JOB_MS - YIELD_MS - 1);
    expect((await jobs.stateOf(call)).end).toBeNull();
    await passTime(1 + LATE_WORK_MS_MAX);
    expect((await jobs.stateOf(call)).end).toMatchObject({ type: 'JobFailed', data: { reason: 'timeout' } });
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

  it('that another process has recorded as lost leaves no result behind', async () => {
    const { call, ends } = await jobs.jobOf(jobs.processOf());
    await jobs.streams.transact(jobStream(jobIdOfCall(call)), job, endJob({ type: 'lost' }, new Date()), cause);
    ends.resolve('done');
    await passTime(0);
    expect((await jobs.stateOf(call)).end?.type).toBe('JobLost');
    expect(jobs.blobs.text()).toBe('');
  });

  it('that another process has recorded as lost is stopped', async () => {
    const begun = await jobs.jobOf(jobs.processOf());
    await jobs.streams.transact(jobStream(jobIdOfCall(begun.call)), job, endJob({ type: 'lost' }, new Date()), cause);
    await passTime(CANCEL_POLL_MS);
    expect(begun.isStopped()).toBe(true);
    expect(await jobs.keyValue.keys('')).toEqual([]);
  });
});
