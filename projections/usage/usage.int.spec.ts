import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { testDatabase, type TestDatabase } from '../../test/support/postgres-for-tests.js';
import { projecting } from '../../test/support/projecting.js';
import { turnSettings } from '../../test/support/turn-settings.js';
import { type ConversationEvent, conversationStream } from '../../src/dialogue/conversation/conversation.events.js';
import type { Recorded } from '../../src/kernel/event-sourcing/events.js';
import { type MonitorEvent, monitorStream } from '../../src/triggers/monitors/monitor/monitor.events.js';
import { type RunEvent, runStream } from '../../src/background/runs/run.events.js';
import { usedBy } from '../../src/background/runs/run-use.policy.js';
import { ReadModels } from '../read-models.js';
import { usage } from './usage.projection.js';
import { UsageQueries } from './usage.queries.js';

type Asking = Readonly<{ id: string; owner?: string; agent?: string | null; key?: string | null }>;

const parts = { answer: '', thought: '', sources: [], toolCalls: [], structured: false };
const used = (promptTokens: number, completionTokens: number) => ({ promptTokens, completionTokens });
const at = (time: string) => ({ at: new Date(`2026-11-${time}Z`) });
const date = (time: string) => at(time).at;

let database: TestDatabase;
let model: Awaited<ReturnType<typeof projecting>>;
let queries: UsageQueries;

/** A conversation with one turn, which has the same id. */
async function asked(time: string, { id, owner = 'ann', agent = 'helper', key = 'key' }: Asking): Promise<void> {
  const settings = turnSettings({ agentId: agent, agentKeyId: key });
  const start = { ownerId: owner, agentId: agent, name: 'x', visibility: 'listed', sharedUsage: false, history: [] } as const;
  const turn = { turnId: id, index: 0, question: 'Why?', requestId: 'r', settings };
  await told(time, id, { type: 'ConversationStarted', data: { conversationId: id, ...start } });
  await told(time, id, { type: 'TurnAsked', data: { conversationId: id, ...turn } });
}
const told = (time: string, id: string, event: ConversationEvent) => model.given(conversationStream(id), [event], at(time));
const about = (id: string) => ({ conversationId: id, turnId: id, ...parts });
const answered = (time: string, id: string, tokens: ReturnType<typeof used> | null) =>
  told(time, id, { type: 'TurnAnswered', data: { ...about(id), modelId: 'm', usage: tokens } });
const failed = (time: string, id: string, tokens?: ReturnType<typeof used>) =>
  told(time, id, { type: 'TurnFailed', data: { ...about(id), error: 'x', code: null, ...(tokens && { usage: tokens }) } });
const stopped = (time: string, id: string, tokens: ReturnType<typeof used>) =>
  told(time, id, { type: 'TurnStopped', data: { ...about(id), usage: tokens } });
const paused = (time: string, id: string, tokens: ReturnType<typeof used>) =>
  told(time, id, {
    type: 'TurnPaused',
    data: {
      ...about(id),
      calls: [],
      expiresAt: '2026-11-30T00:00:00Z',
      lastId: 1,
      modelId: 'm',
      usage: tokens,
      continuation: { text: '{}' },
    },
  });

const ofAgent = (since: string, ids: readonly string[] = []) => queries.used({ agentId: 'helper' }, date(since), ids);
const since = async (time: string) => {
  const { requests, tokens } = await ofAgent(time);
  return [requests, tokens];
};

beforeAll(async () => {
  database = await testDatabase();
});
afterAll(() => database.close());
beforeEach(async () => {
  model = await projecting(usage, database.sql);
  queries = new UsageQueries(new ReadModels(database.sql));
});
// After each test, repeated events and a rebuild must not change the read model.
afterEach(async () => {
  await model.again();
  await model.expectSameAfterRebuild();
});

describe('the usage of an agent', () => {
  it('counts a request when it is made and its tokens when they are reported', async () => {
    await asked('20T10:15:00', { id: 'a' });
    expect(await since('20T10:00:00')).toEqual([1, 0]);
    await answered('20T11:20:00', 'a', used(30, 12));
    expect(await since('20T10:00:00')).toEqual([1, 42]);
    expect(await since('20T10:30:00')).toEqual([0, 42]);
    expect(await since('20T11:30:00')).toEqual([0, 0]);
  });

  it('counts uses after a time to the millisecond, without those at that time', async () => {
    await asked('20T10:00:00.000', { id: 'on-the-hour' });
    await asked('20T10:59:59.999', { id: 'end-of-hour' });
    await asked('20T11:00:00.000', { id: 'next-hour' });
    const requests = async (time: string) => (await ofAgent(time)).requests;
    expect(await requests('20T09:59:59.999')).toBe(3);
    expect(await requests('20T10:00:00.000')).toBe(2);
    expect(await requests('20T10:59:59.998')).toBe(2);
    expect(await requests('20T10:59:59.999')).toBe(1);
    expect(await requests('20T11:00:00.000')).toBe(0);
  });

  it('counts the increase at each end of a run once, including pauses, failures and stops', async () => {
    await asked('20T10:00:00', { id: 'a' });
    await paused('20T10:10:00', 'a', used(100, 10));
    await answered('20T12:10:00', 'a', used(150, 30));
    expect(await since('20T09:00:00')).toEqual([1, 180]);
    expect(await since('20T10:20:00')).toEqual([0, 70]);
    await asked('20T12:30:00', { id: 'b' });
    await failed('20T12:31:00', 'b', used(5, 0));
    await asked('20T12:40:00', { id: 'c' });
    await stopped('20T12:41:00', 'c', used(7, 1));
    expect(await since('20T12:20:00')).toEqual([2, 13]);
  });

  it('is unchanged by an end without usage', async () => {
    await asked('20T10:00:00', { id: 'a' });
    await paused('20T10:10:00', 'a', used(100, 10));
    await answered('20T10:20:00', 'a', null);
    await asked('20T10:30:00', { id: 'b' });
    await failed('20T10:31:00', 'b');
    expect(await since('20T09:00:00')).toEqual([2, 110]);
  });

  it('counts questions of signed-in users, and none to other agents or without an agent', async () => {
    await asked('20T10:00:00', { id: 'signed-in', key: null });
    await asked('20T10:00:00', { id: 'other', agent: 'other' });
    await asked('20T10:00:00', { id: 'none', agent: null, key: null });
    await answered('20T10:01:00', 'signed-in', used(3, 4));
    for (const id of ['other', 'none']) await answered('20T10:01:00', id, used(1000, 1000));
    expect(await since('20T09:00:00')).toEqual([1, 7]);
    expect(await since('20T09:30:00')).toEqual([1, 7]);
  });

  it('stays when the conversation is deleted', async () => {
    await asked('20T10:00:00', { id: 'a' });
    await answered('20T10:01:00', 'a', used(1, 2));
    await told('20T10:02:00', 'a', { type: 'ConversationDeleted', data: { conversationId: 'a' } });
    expect(await since('20T09:00:00')).toEqual([1, 3]);
  });

  it('names the turns that it has counted', async () => {
    await asked('20T10:00:00', { id: 'a' });
    expect((await ofAgent('20T09:00:00', ['a', 'b'])).known).toEqual(['a']);
  });
});

describe('the time since which an amount was used', () => {
  const reached = async (unit: 'requests' | 'tokens', amount: number) =>
    (await queries.reachedAt({ agentId: 'helper' }, unit, amount, date('20T10:00:00')))?.toISOString().slice(8, -5);

  beforeEach(async () => {
    await asked('20T10:10:00', { id: 'a' });
    await asked('20T10:20:00', { id: 'b' });
    await asked('20T10:20:00', { id: 'c' });
    await asked('20T13:00:00', { id: 'd' });
    await answered('20T10:30:00', 'a', used(10, 0));
    await answered('20T10:40:00', 'b', used(20, 5));
    await answered('20T13:05:00', 'd', used(3, 4));
    await asked('20T14:00:00', { id: 'other', agent: 'other' });
    await answered('20T14:00:00', 'other', used(1000, 0));
  });

  it.each([
    [1, '20T13:00:00'],
    [2, '20T10:20:00'],
    [3, '20T10:20:00'],
    [4, '20T10:10:00'],
    [5, undefined],
  ])('%d requests', async (amount, time) => expect(await reached('requests', amount)).toBe(time));

  it.each([
    [7, '20T13:05:00'],
    [8, '20T10:40:00'],
    [32, '20T10:40:00'],
    [33, '20T10:30:00'],
    [43, undefined],
  ])('%d tokens', async (amount, time) => expect(await reached('tokens', amount)).toBe(time));
});

it('the usage equals a plain count for all windows and amounts', async () => {
  const start = date('20T00:00:00').getTime();
  const minute = (number: number) => new Date(start + number * 60_000);
  const moments = Array.from({ length: 120 }, (_, index) => ({ minute: (index * 37) % 480, tokens: (index * 13) % 29 }));
  moments.sort((a, b) => a.minute - b.minute);
  for (const [index, { minute: number, tokens }] of moments.entries()) {
    const time = minute(number).toISOString().slice(8, 19);
    await asked(time, { id: `t${index}` });
    await answered(time, `t${index}`, used(tokens, 0));
  }
  for (let number = -1; number <= 481; number += 7) {
    const left = moments.filter((moment) => moment.minute > number);
    const tokens = left.reduce((sum, moment) => sum + moment.tokens, 0);
    expect(await queries.used({ agentId: 'helper' }, minute(number), [])).toEqual({ requests: left.length, tokens, known: [] });
    const [half, newestFirst] = [Math.ceil(tokens / 2), [...left].reverse()];
    let sum = 0;
    const reached = tokens > 0 ? newestFirst.find((moment) => (sum += moment.tokens) >= half) : undefined;
    if (tokens > 0)
      expect(await queries.reachedAt({ agentId: 'helper' }, 'tokens', half, minute(number))).toEqual(minute(reached!.minute));
  }
});

it('an amount that was reached before the given time is not found', async () => {
  await asked('20T10:10:00', { id: 'a' });
  await asked('20T10:20:00', { id: 'b' });
  await asked('20T11:00:00', { id: 'c' });
  const reached = (amount: number) => queries.reachedAt({ agentId: 'helper' }, 'requests', amount, date('20T10:10:00'));
  expect([await reached(2), await reached(3)]).toEqual([date('20T10:20:00'), undefined]);
});

it('an owner is charged for direct questions and for all questions to agents since an hour', async () => {
  await asked('19T23:59:59', { id: 'before' });
  await asked('20T00:00:00', { id: 'direct', agent: null, key: null });
  await answered('20T00:00:01', 'direct', used(1, 2));
  await asked('20T00:00:00', { id: 'own-agent', key: null });
  await answered('20T00:00:01', 'own-agent', used(10, 20));
  await asked('21T00:00:00', { id: 'key' });
  await answered('21T00:00:01', 'key', used(100, 200));
  await asked('20T00:00:00', { id: 'of-bob', owner: 'bob' });
  await answered('20T00:00:01', 'of-bob', used(1000, 2000));
  expect(await queries.ofOwner('ann', date('20T00:00:00'))).toEqual({
    direct: { requests: 1, tokens: 3 },
    agent: { requests: 2, tokens: 330 },
  });
  expect(await queries.ofOwner('nobody', date('20T00:00:00'))).toEqual({
    direct: { requests: 0, tokens: 0 },
    agent: { requests: 0, tokens: 0 },
  });
});

describe('the usage of headless runs', () => {
  const run = { ownerId: 'ann', agentId: 'helper', trigger: 'webhook', input: 'x' } as const;
  const settings = turnSettings({ agentId: 'helper' });
  const ran = (time: string, id: string, ...events: readonly RunEvent[]) => model.given(runStream(id), events, at(time));
  const queued = (runId: string): RunEvent => ({ type: 'RunQueued', data: { runId, ...run } });
  const started = (runId: string, attempt: number): RunEvent => ({ type: 'RunStarted', data: { runId, attempt, settings } });
  const usedSince = async (time: string) => (await queries.ofOwner('ann', date(time))).agent;

  it('counts one request and the tokens of every attempt, for the owner and the agent', async () => {
    await ran('20T10:00:00', 'r', queued('r'));
    expect(await usedSince('20T10:00:00')).toEqual({ requests: 0, tokens: 0 });
    expect((await ofAgent('20T09:00:00', ['r'])).known).toEqual([]);
    const abandoned: RunEvent = {
      type: 'RunAttemptAbandoned',
      data: { runId: 'r', attempt: 1, modelId: 'm', usage: used(10, 1) },
    };
    const finished: RunEvent = {
      type: 'RunFinished',
      data: { runId: 'r', attempt: 2, ...parts, modelId: 'm', usage: used(20, 2), error: null },
    };
    await ran('20T10:01:00', 'r', started('r', 1), abandoned);
    await ran('20T11:01:00', 'r', started('r', 2), finished);
    expect(await usedSince('20T10:00:00')).toEqual({ requests: 1, tokens: 33 });
    expect(await usedSince('20T11:00:00')).toEqual({ requests: 0, tokens: 22 });
    expect(await ofAgent('20T09:00:00', ['r', 'none'])).toEqual({ requests: 1, tokens: 33, known: ['r'] });
  });

  it('counts a scheduled run without an agent as direct usage of its owner', async () => {
    const data = { runId: 'later', ownerId: 'ann', agentId: null, trigger: 'schedule', input: 'x' } as const;
    const finished: RunEvent = {
      type: 'RunFinished',
      data: { runId: 'later', attempt: 1, ...parts, modelId: 'm', usage: used(20, 2), error: null },
    };
    await ran('20T10:00:00', 'later', { type: 'RunQueued', data }, started('later', 1), finished);
    const { direct, agent } = await queries.ofOwner('ann', date('20T10:00:00'));
    expect([direct, agent]).toEqual([
      { requests: 1, tokens: 22 },
      { requests: 0, tokens: 0 },
    ]);
  });

  it('has no tokens for a refused run and for an end without usage', async () => {
    await ran('20T10:00:00', 'refused', queued('refused'), {
      type: 'RunRefused',
      data: { runId: 'refused', reason: 'quota_exceeded', error: 'x' },
    });
    await ran('20T10:00:00', 'lost', queued('lost'), started('lost', 2), {
      type: 'RunAttemptAbandoned',
      data: { runId: 'lost', attempt: 2, modelId: 'm', usage: null },
    });
    expect(await usedSince('20T10:00:00')).toEqual({ requests: 1, tokens: 0 });
  });
});

describe('the usage of a purged run', () => {
  const runId = 'purged';
  const stream = runStream(runId);
  const run: readonly (readonly [time: string, event: RunEvent])[] = [
    ['20T10:00:00', { type: 'RunQueued', data: { runId, ownerId: 'ann', agentId: 'helper', trigger: 'webhook', input: '{}' } }],
    ['20T10:00:01', { type: 'RunStarted', data: { runId, attempt: 1, settings: turnSettings() } }],
    ['20T10:00:05', { type: 'RunAttemptAbandoned', data: { runId, attempt: 1, modelId: 'm', usage: used(3, 1) } }],
    ['20T11:00:01', { type: 'RunStarted', data: { runId, attempt: 2, settings: turnSettings() } }],
    [
      '20T11:00:05',
      { type: 'RunFinished', data: { runId, attempt: 2, ...parts, modelId: 'm', usage: used(30, 12), error: null } },
    ],
  ];

  it('stays counted, whether its own events are still in the log or not', async () => {
    const recorded: Recorded<RunEvent>[] = [];
    for (const [time, event] of run) {
      const [stored] = await model.given(stream, [event], at(time));
      recorded.push({ ...event, ...stored, data: event.data } as Recorded<RunEvent>);
    }
    const before = await queries.ofOwner('ann', date('20T00:00:00'));
    expect(before.agent).toEqual({ requests: 1, tokens: 46 });
    const use = usedBy(recorded);
    expect(use.map(({ requests }) => requests)).toEqual([1, 0, 0]);
    const purged: RunEvent = {
      type: 'RunPurged',
      data: { runId, ownerId: 'ann', agentId: 'helper', trigger: 'webhook', delivery: null, used: use, purgedAt: '' },
    };
    await model.given(stream, [purged], at('30T00:00:00'));
    expect(await queries.ofOwner('ann', date('20T00:00:00'))).toEqual(before);
    await model.expectSameAfterRebuild(({ type }) => type === 'RunPurged');
  });
});

it('the tokens for the condition of a monitor are charged to its owner, with or without an agent', async () => {
  const definition = {
    description: 'Price',
    source: { type: 'webpage', url: 'https://shop.example/' },
    check: { type: 'changed' },
    condition: 'It is cheap.',
    onMatch: null,
    intervalSeconds: 900,
    followUpsMax: 1,
    expiresAt: '2026-12-30T00:00:00Z',
  } as const;
  const seen = { hash: '', items: [], holds: false, gist: '' };
  const judge = async (monitorId: string, agentId: string | null, tokens: ReturnType<typeof used> | null) => {
    const about = { monitorId, ownerId: 'judging', conversationId: 'c', agentId, definition, seen };
    const times = { createdAt: '2026-11-21T10:00:00Z', nextCheckAt: '2026-11-21T10:15:00Z' };
    const check = { monitorId, check: 1, outcome: 'changed', error: null, usage: tokens, judgeFailures: 0 } as const;
    const events: MonitorEvent[] = [
      { type: 'MonitorCreated', data: { ...about, ...times } },
      { type: 'MonitorChecked', data: { ...check, checkedAt: times.nextCheckAt, nextCheckAt: times.nextCheckAt } },
    ];
    await model.given(monitorStream(monitorId), events, at('21T10:15:00'));
  };
  await judge('m1', null, used(10, 1));
  await judge('m2', 'helper', used(20, 2));
  await judge('m3', 'helper', null);
  expect(await queries.ofOwner('judging', date('21T10:00:00'))).toEqual({
    direct: { requests: 0, tokens: 11 },
    agent: { requests: 0, tokens: 22 },
  });
});
