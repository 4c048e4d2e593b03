import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import {
  JOB_MS,
  jobIdOfCall,
  JobProcesses,
  longCall,
  neverAborted,
  outcomeOf,
  passTime,
  scriptedWork,
  YIELD_MS,
} from '../../../test/support/job-processes.js';
import { newId } from '../../kernel/ids.js';
import { KeyValueUnavailable } from '../../kernel/messaging/key-value.js';
import { isHeld } from '../../kernel/messaging/lease.js';
import { type Background, ToolFailed } from '../../resources/tools/toolbox/tool-kind.port.js';
import { jobLease } from './job.policy.js';

let jobs: JobProcesses;

beforeEach(() => {
  jest.useFakeTimers({ now: new Date('2026-01-01T00:00:00Z'), doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask'] });
  jobs = new JobProcesses();
});
afterEach(() => {
  jest.useRealTimers();
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
