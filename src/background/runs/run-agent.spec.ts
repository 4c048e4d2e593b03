import { beforeEach, describe, expect, it } from '@jest/globals';
import { commandsOver } from '../../../test/support/commands-over.js';
import { cause } from '../../../test/support/turns.js';
import { InMemoryEventStore } from '../../../test/support/in-memory-event-store.js';
import { VirtualTiming } from '../../../test/support/virtual-timing.js';
import { turnSettings } from '../../../test/support/turn-settings.js';
import {
  type RecordedEffect,
  type HistoryPin,
  HeadlessAnswering,
  type HeadlessAnswer,
  type HeadlessWork,
} from '../../dialogue/answering/runner/headless-answering.port.js';
import type { CalledTool } from '../../dialogue/conversation/conversation.events.js';
import { StoreUnavailable } from '../../kernel/event-sourcing/event-store.js';
import { Rejection } from '../../kernel/rejection.js';
import type { Timing } from '../../kernel/timing.js';
import { Streams } from '../../kernel/event-sourcing/streams.js';
import type { QuotaAnswer } from '../../work/limits/run-quota.port.js';
import {
  AbandonAttemptHandler,
  FailRunHandler,
  FinishEffectHandler,
  FinishRunHandler,
  RefuseRunHandler,
  StartEffectHandler,
  StartRunHandler,
} from './run.commands.js';
import { queueRun, run } from './run.decider.js';
import { runStream } from './run.events.js';
import { RunAgent } from './run-agent.js';
import { systemTiming } from '../../platform/system-timing.js';

const runId = 'r1';
const parts = { answer: 'Done.', thought: 'Hm.', sources: [], toolCalls: [], structured: false };
const RESULT = { status: 'success', result: { answer: 'Done.', sources: [], tool_calls: [], thought: 'Hm.' } };
const called = (callId: string, actionName: string, args: Readonly<Record<string, unknown>> = {}): CalledTool => ({
  callId,
  toolId: 't1',
  toolName: 'api_tool',
  actionName,
  name: actionName,
  arguments: args,
  argumentsSha256: 'h',
});

type Script = (work: HeadlessWork) => Promise<Partial<HeadlessAnswer> | void>;

class ScriptedAgent extends HeadlessAnswering {
  settled = 0;
  readonly scripts: Script[] = [];
  history: HistoryPin | undefined;
  readonly seen: HeadlessWork[] = [];
  resolveSettings = async () => turnSettings({ modelId: `model-${++this.settled}` });
  historyOf = async () => this.history;
  answer = async (work: HeadlessWork): Promise<HeadlessAnswer> => {
    this.seen.push(work);
    work.used({ promptTokens: 10, completionTokens: 5 });
    return { parts, error: null, ...(await this.scripts.shift()?.(work)) };
  };
}

let store: InMemoryEventStore;
let streams: Streams;
let agent: ScriptedAgent;
let quota: QuotaAnswer;
let attempts: number;
let timing: Timing;
beforeEach(async () => {
  store = new InMemoryEventStore();
  timing = systemTiming;
  streams = new Streams(store, timing);
  agent = new ScriptedAgent();
  quota = { allowed: true };
  attempts = 0;
  const data = { runId, ownerId: 'alice', agentId: 'a1', trigger: 'webhook', input: '{"n":1}' } as const;
  await streams.transact(runStream(runId), run, queueRun(data), cause);
});

const commands = () =>
  commandsOver(
    new RefuseRunHandler(streams),
    new StartRunHandler(streams),
    new StartEffectHandler(streams),
    new FinishEffectHandler(streams),
    new FinishRunHandler(streams),
    new AbandonAttemptHandler(streams),
    new FailRunHandler(streams),
  );
const runner = () => new RunAgent(streams, commands(), agent, { admit: () => Promise.resolve(quota) }, timing);
const attempt = (signal = new AbortController().signal, taskId = runId) =>
  runner().run({
    taskId,
    ownerId: 'alice',
    input: {},
    attempt: ++attempts,
    cause,
    signal,
    progress: () => Promise.resolve(),
  });
const told = async () => {
  const types: string[] = [];
  for await (const page of store.read(runStream(runId))) types.push(...page.map(({ type }) => type));
  return types;
};
const crash = () => Promise.reject(new Error('The process is gone.'));

describe('a headless run of an agent', () => {
  it('returns its answer and records it with its usage', async () => {
    expect(await attempt()).toEqual(RESULT);
    expect(await told()).toEqual(['RunQueued', 'RunStarted', 'RunFinished']);
    const { state } = await streams.fold(runStream(runId), run);
    expect(state.finished).toMatchObject({ modelId: 'model-1', usage: { promptTokens: 10, completionTokens: 5 }, error: null });
  });

  it('returns the same answer to a repeated attempt without another run', async () => {
    await attempt();
    agent.scripts.push(() => crash());
    expect(await attempt()).toEqual(RESULT);
    expect(await told()).toHaveLength(3);
  });

  it('reads the history of its chat up to the revision of the first attempt, and no history without a chat', async () => {
    agent.history = { conversationId: 'c1', revision: 4 };
    await attempt();
    expect(agent.seen[0]!.history).toBeUndefined();
    const data = {
      runId: 'r2',
      ownerId: 'alice',
      agentId: null,
      trigger: 'schedule',
      input: 'Go on.',
      conversationId: 'c1',
    } as const;
    await streams.transact(runStream('r2'), run, queueRun(data), cause);
    agent.scripts.push(() => crash());
    await expect(attempt(undefined, 'r2')).rejects.toThrow('The process is gone.');
    agent.history = { conversationId: 'c1', revision: 9 };
    await attempt(undefined, 'r2');
    expect(agent.seen.slice(1).map(({ history }) => history?.revision)).toEqual([4, 4]);
  });

  it('succeeds with the answer so far if the model gave up', async () => {
    agent.scripts.push(async () => ({ parts: { ...parts, answer: 'Do' }, error: { text: 'Gone.', code: 'unavailable' } }));
    expect(await attempt()).toMatchObject({ status: 'success', result: { answer: 'Do' } });
  });

  it('is refused if the quota is used up, also when it is repeated', async () => {
    quota = { allowed: false, error: 'Usage quota exceeded.' };
    const refusal = { status: 'quota_exceeded', error: 'Usage quota exceeded.' };
    expect([await attempt(), await attempt()]).toEqual([refusal, refusal]);
    expect(await told()).toEqual(['RunQueued', 'RunRefused']);
  });

  it('is not refused after it has started', async () => {
    agent.scripts.push(crash);
    await expect(attempt()).rejects.toThrow('gone');
    quota = { allowed: false, error: 'Usage quota exceeded.' };
    expect(await attempt()).toEqual(RESULT);
  });

  it('starts again after a failure with the same settings, and the failed attempt is recorded', async () => {
    agent.scripts.push(crash);
    await expect(attempt()).rejects.toThrow('gone');
    expect(await attempt()).toEqual(RESULT);
    expect(await told()).toEqual(['RunQueued', 'RunStarted', 'RunAttemptAbandoned', 'RunStarted', 'RunFinished']);
    expect((await streams.fold(runStream(runId), run)).state.finished?.modelId).toBe('model-1');
    expect(agent.settled).toBe(1);
  });

  it('is recorded as failed when its task has failed', async () => {
    agent.scripts.push(() => Promise.reject(new Rejection('prompt-not-renderable', 'The prompt cannot be used.')));
    await expect(attempt()).rejects.toThrow('The prompt');
    await runner().failed(runId, {}, 'The prompt cannot be used.', cause);
    await runner().failed(runId, {}, 'The prompt cannot be used.', cause);
    expect((await told()).slice(-2)).toEqual(['RunAttemptAbandoned', 'RunFailed']);
    await expect(attempt()).rejects.toMatchObject({ code: 'run-failed', message: 'The prompt cannot be used.' });
  });
});

describe('a run with a time limit', () => {
  const limitMs = 10_000;
  beforeEach(async () => {
    timing = new VirtualTiming();
    streams = new Streams(store, timing);
    const definition = { modelId: null, toolAllowlist: [], timeoutMs: limitMs };
    const data = { runId: 'r2', ownerId: 'alice', agentId: 'a1', trigger: 'schedule', input: 'Look.', definition } as const;
    await streams.transact(runStream('r2'), run, queueRun(data), cause);
  });
  const status = async () => (await streams.fold(runStream('r2'), run)).state.status;

  it('is failed once the limit is over', async () => {
    agent.scripts.push(async ({ signal }) => {
      await timing.pause(2 * limitMs, signal);
      signal.throwIfAborted();
    });
    await expect(attempt(undefined, 'r2')).rejects.toMatchObject({ code: 'run-timed-out' });
    expect(await status()).toBe('failed');
  });

  it('is not failed if it has answered in time and the store takes the answer only later', async () => {
    const append = store.append.bind(store);
    store.append = (stream, expected, events) =>
      events[0]!.type === 'RunFinished' ? Promise.reject(new StoreUnavailable('away')) : append(stream, expected, events);
    await expect(attempt(undefined, 'r2')).rejects.toThrow('away');
    expect([timing.elapsedMs() > limitMs, await status()]).toEqual([true, 'started']);
    store.append = append;
    expect(await attempt(undefined, 'r2')).toEqual(RESULT);
  });
});

describe('a later attempt', () => {
  const doing =
    (calls: readonly CalledTool[], known: (RecordedEffect | undefined)[] = [], after: Script = async () => undefined): Script =>
    async (work) => {
      for (const call of calls) {
        const before = await work.ledger.begin(call);
        known.push(before);
        if (!before) await work.ledger.finish(call.callId, 'completed', `${call.actionName} done`);
      }
      return after(work);
    };
  const ends = (known: readonly (RecordedEffect | undefined)[]) => known.map((each) => each && (each.end?.result ?? 'unknown'));

  it('does not repeat the same call with another id', async () => {
    agent.scripts.push(doing([called('c1', 'send', { to: 'x', text: 'y' })], [], crash));
    await expect(attempt()).rejects.toThrow('gone');
    const known: (RecordedEffect | undefined)[] = [];
    agent.scripts.push(doing([called('c7', 'send', { text: 'y', to: 'x' }), called('c8', 'send', { to: 'z' })], known));
    await attempt();
    expect(ends(known)).toEqual(['send done', undefined]);
  });

  it('matches calls in another order, and equal calls one by one', async () => {
    agent.scripts.push(doing([called('1', 'a'), called('2', 'b'), called('3', 'a')], [], crash));
    await expect(attempt()).rejects.toThrow('gone');
    const known: (RecordedEffect | undefined)[] = [];
    agent.scripts.push(doing([called('4', 'b'), called('5', 'a'), called('6', 'a'), called('7', 'a')], known));
    await attempt();
    expect(ends(known)).toEqual(['b done', 'a done', 'a done', undefined]);
  });

  it('does not repeat a call with an unknown outcome', async () => {
    agent.scripts.push(async ({ ledger }) => {
      await ledger.begin(called('c1', 'send'));
      return crash();
    });
    await expect(attempt()).rejects.toThrow('gone');
    const known: (RecordedEffect | undefined)[] = [];
    agent.scripts.push(doing([called('c1', 'send')], known));
    await attempt();
    expect(ends(known)).toEqual(['unknown']);
  });

  it('gets the call ids of earlier attempts', async () => {
    agent.scripts.push(doing([called('c1', 'send')], [], crash));
    await expect(attempt()).rejects.toThrow('gone');
    let taken: ReadonlySet<string> = new Set();
    agent.scripts.push(async ({ callIdsTaken }) => void (taken = callIdsTaken));
    await attempt();
    expect([...taken]).toEqual(['c1']);
  });

  it('takes the run over from an attempt that still works, which cannot begin calls any more', async () => {
    let release: () => void = () => undefined;
    const waiting = new Promise<void>((resolve) => (release = resolve));
    agent.scripts.push(async ({ ledger }) => {
      await waiting;
      await ledger.begin(called('c1', 'send'));
    });
    const first = attempt();
    while ((await told()).length < 2) await Promise.resolve();
    expect(await attempt()).toEqual(RESULT);
    release();
    await expect(first).rejects.toMatchObject({ code: 'run-over' });
    expect(await told()).not.toContain('RunToolCallStarted');
  });
});
