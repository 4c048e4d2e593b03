import { beforeEach, describe, expect, it } from '@jest/globals';
import { commandsOver } from '../../../../test/support/commands-over.js';
import { definition as usual } from '../../../../test/support/monitor-events.js';
import { InMemoryEventStore } from '../../../../test/support/in-memory-event-store.js';
import { Streams } from '../../../kernel/event-sourcing/streams.js';
import { CHECK_LEASE_MS, CheckMonitor, JUDGE_FAILURES_MAX } from './check-monitor.js';
import { type Content, contentOfText } from '../monitor/content.policy.js';
import type { Judge, Verdict } from './judge.js';
import { monitorCodec } from '../monitor/monitor.codec.js';
import { AttendMonitorHandler, ReportCheckHandler } from '../monitor/monitor.commands.js';
import { type MonitorEvent, monitorStream, type MonitorDefinition } from '../monitor/monitor.events.js';
import type { MonitorRules } from '../monitor/monitor-rules.js';
import { observe } from './observe.js';
import { Patterns } from '../patterns/patterns.port.js';
import { CheckFailed, type WatchedSources } from './watched-sources.js';
import { systemTiming } from '../../../platform/system-timing.js';

const MINUTE_MS = 60_000;
const START = Date.parse('2026-01-01T08:02:00Z');
const cause = { actor: 'system:check-monitors', credential: 'system', correlationId: 'r', causationId: 'r' } as const;
const rules = {
  followUpsPerHourMax: 5,
  unreachableGraceMs: 60 * MINUTE_MS,
  failuresMax: 3,
  judgeTokensMax: 0,
} as MonitorRules;
const definition: MonitorDefinition = { ...usual, followUpsMax: 9, expiresAt: '2026-01-03T08:00:00.000Z' };

class NoPatterns extends Patterns {
  matches(): Promise<readonly string[]> {
    return Promise.resolve([]);
  }
}

let now: Date;
let store: InMemoryEventStore;
let streams: Streams;
let content: () => Promise<Content>;
let fetches: number;
let verdict: Verdict;
beforeEach(() => {
  now = new Date(START);
  store = new InMemoryEventStore();
  streams = new Streams(store, systemTiming);
  fetches = 0;
  content = () => Promise.resolve(contentOfText('one'));
  verdict = { holds: true, usage: { promptTokens: 5, completionTokens: 1 } };
});

const clock = { now: () => now };
/** A process with its own empty cache. */
const process = () =>
  new CheckMonitor(
    streams,
    commandsOver(new AttendMonitorHandler(streams, clock), new ReportCheckHandler(streams, clock, rules)),
    clock,
    { fetch: () => (fetches++, content()) } as unknown as WatchedSources,
    new NoPatterns(),
    { judge: () => Promise.resolve(verdict) } as unknown as Judge,
  );
const stays = new AbortController().signal;
let ticks = 0;
/** A check with its own correlation id, like one per tick. */
const check = (by = process()) => by.check('m1', { ...cause, correlationId: `tick-${++ticks}` }, stays);

async function made(more: Partial<MonitorDefinition> = {}): Promise<void> {
  const { seen } = await observe(definition.check, contentOfText('one'), undefined, new NoPatterns());
  const data = {
    monitorId: 'm1',
    ownerId: 'ann',
    conversationId: 'c1',
    agentId: null,
    definition: { ...definition, ...more },
    seen,
  };
  const times = { createdAt: now.toISOString(), nextCheckAt: now.toISOString() };
  await streams.append(
    monitorStream('m1'),
    'none',
    monitorCodec,
    [{ type: 'MonitorCreated', data: { ...data, ...times } }],
    cause,
  );
}
async function events(): Promise<readonly MonitorEvent[]> {
  const all: MonitorEvent[] = [];
  for await (const page of store.read(monitorStream('m1'))) {
    all.push(...page.map(({ type, data }) => ({ type, data: JSON.parse(data) as unknown }) as MonitorEvent));
  }
  return all.slice(1);
}
const types = async () => (await events()).map(({ type }) => type);
const outcomes = async () => (await events()).flatMap((event) => (event.type === 'MonitorChecked' ? event.data.outcome : []));
const later = (minutes: number) => (now = new Date(now.getTime() + minutes * MINUTE_MS));

describe('a check', () => {
  it('without news is recorded and requests no follow-up', async () => {
    await made();
    await check();
    expect([await types(), await outcomes()]).toEqual([['MonitorCheckStarted', 'MonitorChecked'], ['unchanged']]);
  });

  it('is performed once if several processes poll at once', async () => {
    await made();
    await Promise.all([check(), check(), check()]);
    expect([fetches, await outcomes()]).toEqual([1, ['unchanged']]);
  });

  it('of a crashed process is repeated after its claim has expired, and requests one follow-up', async () => {
    await made();
    let arrive: (content: Content) => void = () => undefined;
    content = () => new Promise((resolve) => (arrive = resolve));
    const first = check();
    await new Promise((resolve) => setImmediate(resolve));
    await check();
    expect(fetches).toBe(1);
    now = new Date(now.getTime() + CHECK_LEASE_MS);
    content = () => Promise.resolve(contentOfText('two'));
    await check();
    arrive(contentOfText('two'));
    await first;
    expect((await types()).filter((type) => type === 'MonitorFollowUpRequested')).toHaveLength(1);
  });

  it('that is interrupted records nothing', async () => {
    await made();
    content = () => Promise.reject(new Error('The process ends.'));
    await expect(check()).rejects.toThrow('The process ends.');
    expect(await types()).toEqual(['MonitorCheckStarted']);
  });

  it('pauses the monitor after its source was unreachable for an hour', async () => {
    await made();
    content = () => Promise.reject(new CheckFailed('unreachable', 'Away.'));
    const one = process();
    for (let minutes = 0; minutes < 90; minutes += 20) {
      await check(one);
      later(20);
    }
    expect(await outcomes()).toEqual(['unreachable', 'unreachable', 'unreachable', 'unreachable']);
    expect((await events()).at(-1)).toMatchObject({
      type: 'MonitorPaused',
      data: { reason: expect.stringMatching(/60 minutes/) },
    });
  });

  it('pauses the monitor if its source is gone', async () => {
    await made();
    content = () => Promise.reject(new CheckFailed('gone', 'The source is gone.'));
    await check();
    expect((await events()).at(-1)).toMatchObject({ type: 'MonitorPaused', data: { reason: 'The source is gone.' } });
  });
});

describe('a condition', () => {
  beforeEach(async () => {
    await made({ condition: 'It is cheap.' });
    content = () => Promise.resolve(contentOfText('two'));
  });

  it('that holds requests a follow-up, and the usage of the judge is recorded', async () => {
    await check();
    expect((await events())[1]).toMatchObject({ data: { outcome: 'matched', usage: { promptTokens: 5, completionTokens: 1 } } });
    expect(await types()).toContain('MonitorFollowUpRequested');
  });

  it('that does not hold requests no follow-up, and the same content is not judged again', async () => {
    verdict = { holds: false, usage: null };
    await check();
    verdict = { holds: true, usage: null };
    later(20);
    await check();
    expect(await outcomes()).toEqual(['changed', 'unchanged']);
  });

  it('that cannot be judged is retried and then reported unjudged', async () => {
    verdict = { refusedBy: 'model', error: 'No.', usage: null };
    for (let tries = 0; tries < JUDGE_FAILURES_MAX; tries++) {
      await check();
      later(20);
    }
    expect(await outcomes()).toEqual(['unjudged', 'unjudged', 'matched']);
    expect((await events()).at(-1)).toMatchObject({ data: { text: expect.stringMatching(/could not be judged: It is cheap/) } });
  });

  it('is not judged while the owner’s quota is used up', async () => {
    verdict = { refusedBy: 'quota', error: 'Used up.', usage: null };
    await check();
    expect(await outcomes()).toEqual(['unreachable']);
  });
});
