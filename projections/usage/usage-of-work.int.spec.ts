import { describe, expect, it } from '@jest/globals';
import { turnSettings } from '../../test/support/turn-settings.js';
import type { Recorded } from '../../src/kernel/event-sourcing/events.js';
import { type MonitorEvent, monitorStream } from '../../src/triggers/monitors/monitor/monitor.events.js';
import { type RunEvent, runStream } from '../../src/background/runs/run.events.js';
import { usedBy } from '../../src/background/runs/run-use.policy.js';
import { at, date, ofAgent, parts, projectUsage, usageModel, used } from '../../test/support/usage-models.js';

projectUsage();

describe('the usage of headless runs', () => {
  const run = { ownerId: 'ann', agentId: 'helper', trigger: 'webhook', input: 'x' } as const;
  const settings = turnSettings({ agentId: 'helper' });
  const ran = (time: string, id: string, ...events: readonly RunEvent[]) =>
    usageModel.model.given(runStream(id), events, at(time));
  const queued = (runId: string): RunEvent => ({ type: 'RunQueued', data: { runId, ...run } });
  const started = (runId: string, attempt: number): RunEvent => ({ type: 'RunStarted', data: { runId, attempt, settings } });
  const usedSince = async (time: string) => (await usageModel.queries.ofOwner('ann', date(time))).agent;

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
    const { direct, agent } = await usageModel.queries.ofOwner('ann', date('20T10:00:00'));
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
      const [stored] = await usageModel.model.given(stream, [event], at(time));
      recorded.push({ ...event, ...stored, data: event.data } as Recorded<RunEvent>);
    }
    const before = await usageModel.queries.ofOwner('ann', date('20T00:00:00'));
    expect(before.agent).toEqual({ requests: 1, tokens: 46 });
    const use = usedBy(recorded);
    expect(use.map(({ requests }) => requests)).toEqual([1, 0, 0]);
    const purged: RunEvent = {
      type: 'RunPurged',
      data: { runId, ownerId: 'ann', agentId: 'helper', trigger: 'webhook', delivery: null, used: use, purgedAt: '' },
    };
    await usageModel.model.given(stream, [purged], at('30T00:00:00'));
    expect(await usageModel.queries.ofOwner('ann', date('20T00:00:00'))).toEqual(before);
    await usageModel.model.expectSameAfterRebuild(({ type }) => type === 'RunPurged');
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
    await usageModel.model.given(monitorStream(monitorId), events, at('21T10:15:00'));
  };
  await judge('m1', null, used(10, 1));
  await judge('m2', 'helper', used(20, 2));
  await judge('m3', 'helper', null);
  expect(await usageModel.queries.ofOwner('judging', date('21T10:00:00'))).toEqual({
    direct: { requests: 0, tokens: 11 },
    agent: { requests: 0, tokens: 22 },
  });
});
