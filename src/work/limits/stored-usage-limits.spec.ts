import { describe, expect, it } from '@jest/globals';
import type { Counted, UsageQueries } from '../../../projections/usage/usage.queries.js';
import type { Used } from './limits.policy.js';
import { InMemoryEventStore } from '../../../test/support/in-memory-event-store.js';
import { askedTurn } from '../../../test/support/turns.js';
import { Freshness } from '../../kernel/event-sourcing/freshness.js';
import { InProcessKeyValue } from '../../platform/messaging/key-value/in-process-key-value.js';
import { WINDOW_MS } from './limits.policy.js';
import { OwnerQuota, QuotaOptions } from './owner-quota.js';
import { PLACE_MS, RequestPlaces } from './request-places.js';
import { LinkQuota, StoredUsageLimits } from './stored-usage-limits.js';
import type { Admission, LimitedAgent } from './usage-limits.port.js';

type Entry = Readonly<{ turnId: string; at: Date }> & Used;

const now = new Date('2026-11-21T10:00:00Z');
const ago = (ms: number) => new Date(now.getTime() - ms);
const newest = (entries: readonly Entry[]) => [...entries].sort((a, b) => b.at.getTime() - a.at.getTime());

/** Limits over a read model that holds `entries`. It receives the entry `reaches` while a caller waits for it to catch up. */
function limited(options: { entries?: Entry[]; quota?: number; reaches?: Entry } = {}) {
  const entries = options.entries ?? [];
  const waits: (bigint | undefined)[] = [];
  /** Steps that run after the read model has answered, one per query. */
  const meanwhile: (() => Promise<void>)[] = [];
  const sum = (since: Date): Used => ({
    requests: entries.reduce((all, { at, requests }) => all + (at > since ? requests : 0), 0),
    tokens: entries.reduce((all, { at, tokens }) => all + (at > since ? tokens : 0), 0),
  });
  const usage = {
    used: async (_: Counted, since: Date, ids: readonly string[]) => {
      const used = { ...sum(since), known: ids.filter((id) => entries.some(({ turnId }) => turnId === id)) };
      await meanwhile.shift()?.();
      return used;
    },
    reachedAt: (_: Counted, unit: keyof Used, amount: number) => {
      let used = 0;
      return Promise.resolve(newest(entries).find((entry) => (used += entry[unit]) >= amount)?.at);
    },
    ofOwner: (_: string, from: Date) =>
      Promise.resolve({ direct: { requests: 0, tokens: 0 }, agent: sum(ago(now.getTime() - from.getTime() + 1)) }),
  } as unknown as UsageQueries;
  const store = new InMemoryEventStore();
  let elapsed = 0;
  const keyValue = new InProcessKeyValue(() => elapsed);
  const clock = { now: () => now };
  const freshness = new (class extends Freshness {
    reached(_: readonly string[], position: bigint | undefined): Promise<boolean> {
      waits.push(position);
      if (position !== undefined && options.reaches) entries.push(options.reaches);
      return Promise.resolve(true);
    }
  })();
  const quota = new OwnerQuota(usage, clock, new QuotaOptions('month', options.quota));
  const process = () => new StoredUsageLimits(usage, quota, store, freshness, clock, new RequestPlaces(keyValue), linkQuota);
  return {
    limits: process(),
    another: process,
    quota,
    store,
    waits,
    entries,
    meanwhile,
    pass: (ms: number) => void (elapsed += ms),
  };
}

const linkQuota = new LinkQuota(3, 1000);

const of = (turnId: string, agent: Partial<LimitedAgent> | undefined = {}, more: Partial<Admission> = {}): Admission => ({
  turnId,
  stream: `conversation-of-${turnId}`,
  ownerId: 'ann',
  agent: { id: 'helper', tokenLimit: null, requestLimit: null, ...agent },
  isNewRequest: true,
  ...more,
});
const signedIn = (turnId: string): Admission => ({ ...of(turnId), agent: undefined });
const request = (at: Date, turnId = 'r'): Entry => ({ turnId, at, requests: 1, tokens: 0 });
const tokens = (at: Date, amount: number): Entry => ({ turnId: 't', at, requests: 0, tokens: amount });
const tooMuch = (retryAfterSeconds: number) => ({ code: 'usage-limit', retryAfterSeconds });

describe('a limit of requests', () => {
  const agent = { requestLimit: 2 };

  it('admits requests up to the limit and refuses the next', async () => {
    const { limits, entries } = limited({ entries: [request(ago(1000))] });
    await limits.admit(of('a', agent));
    entries.push(request(now, 'a'));
    await expect(limits.admit(of('b', agent))).rejects.toMatchObject(tooMuch(WINDOW_MS / 1000 - 1));
  });

  it('counts requests that are less than 24 hours old and says when the oldest of them stops counting', async () => {
    const edge = request(ago(WINDOW_MS));
    const inside = request(ago(WINDOW_MS - 1500));
    const { limits } = limited({ entries: [edge, inside] });
    await limits.admit(of('a', agent));
    const full = limited({ entries: [inside, request(ago(WINDOW_MS - 1))] });
    await expect(full.limits.admit(of('a', agent))).rejects.toMatchObject(tooMuch(1));
    const over = limited({ entries: [request(ago(WINDOW_MS - 1)), inside, request(ago(0))] });
    await expect(over.limits.admit(of('a', agent))).rejects.toMatchObject(tooMuch(2));
  });

  it('holds for concurrent requests that the read model does not have yet', async () => {
    const { limits } = limited();
    const ids = Array.from({ length: 20 }, (_, index) => `t${index}`);
    const outcomes = await Promise.allSettled(ids.map((id) => limits.admit(of(id, agent))));
    expect(outcomes.map(({ status }) => status)).toEqual(ids.map((_, index) => (index < 2 ? 'fulfilled' : 'rejected')));
  });

  it('holds for concurrent requests through two processes, which admit the first ones', async () => {
    const { limits, another, entries } = limited();
    const processes = [limits, another()];
    const ids = Array.from({ length: 20 }, (_, index) => `t${index}`);
    const outcomes = await Promise.allSettled(ids.map((id, index) => processes[index % 2]!.admit(of(id, { requestLimit: 5 }))));
    const passed = ids.filter((_, index) => outcomes[index]!.status === 'fulfilled');
    expect(passed).toEqual(['t0', 't1', 't2', 't3', 't4']);
    entries.push(...passed.map((id) => request(now, id)));
    for (const process of processes)
      await expect(process.admit(of('late', { requestLimit: 5 }))).rejects.toMatchObject({ code: 'usage-limit' });
    await processes[1]!.admit(of('more', { requestLimit: 6 }));
  });

  it('holds while another process sees a request in the read model and releases its place', async () => {
    const { limits, another, entries, meanwhile } = limited();
    await limits.admit(of('a', { requestLimit: 1 }));
    meanwhile.push(async () => {
      entries.push(request(now, 'a'));
      await another().admit(of('b', { requestLimit: 9 }));
    });
    await expect(limits.admit(of('c', { requestLimit: 1 }))).rejects.toMatchObject({ code: 'usage-limit' });
  });

  it('frees the place of an admitted request that a crashed process did not store', async () => {
    const { limits, another, pass } = limited();
    const killed = another();
    await killed.admit(of('a', { requestLimit: 1 }));
    await expect(limits.admit(of('b', { requestLimit: 1 }))).rejects.toMatchObject({ code: 'usage-limit' });
    pass(PLACE_MS);
    await limits.admit(of('c', { requestLimit: 1 }));
  });

  it('counts a request once, whether the read model has it or not', async () => {
    const { limits, entries } = limited();
    await limits.admit(of('a', agent));
    entries.push(request(now, 'a'));
    await limits.admit(of('b', agent));
    await expect(limits.admit(of('c', agent))).rejects.toMatchObject({ code: 'usage-limit' });
  });

  it('counts neither withdrawn nor refused requests', async () => {
    const { limits } = limited();
    const a = of('a', agent);
    await limits.admit(a);
    await limits.admit(of('b', agent));
    for (const id of ['c', 'd']) await expect(limits.admit(of(id, agent))).rejects.toMatchObject({ code: 'usage-limit' });
    limits.withdraw(a);
    await limits.admit(of('e', agent));
  });

  it('counts a turn that another process has admitted too and withdrawn', async () => {
    const { limits, another } = limited();
    await limits.admit(of('a', { requestLimit: 1 }));
    const [other, late] = [another(), of('a', { requestLimit: 1 })];
    await other.admit(late);
    other.withdraw(late);
    await expect(limits.admit(of('b', { requestLimit: 1 }))).rejects.toMatchObject({ code: 'usage-limit' });
  });

  it('gives the whole window as the retry time when only requests under way reach it', async () => {
    const { limits } = limited();
    await limits.admit(of('a', { requestLimit: 1 }));
    await expect(limits.admit(of('b', { requestLimit: 1 }))).rejects.toMatchObject(tooMuch(WINDOW_MS / 1000));
  });

  it('does not apply to resumed turns, to agents without a limit or to users who ask without an agent', async () => {
    const { limits } = limited({ entries: [request(now), request(now)] });
    await limits.admit(of('a', agent, { isNewRequest: false }));
    await limits.admit(of('b'));
    await limits.admit(signedIn('c'));
  });
});

describe('a limit of tokens', () => {
  const agent = { tokenLimit: 100 };

  it('admits the request that crosses it and refuses further ones until enough tokens are outside the window', async () => {
    const { limits, entries } = limited({ entries: [tokens(ago(WINDOW_MS - 5000), 60), tokens(ago(WINDOW_MS - 9000), 39)] });
    await limits.admit(of('a', agent));
    entries.push(tokens(now, 1));
    await expect(limits.admit(of('b', agent))).rejects.toMatchObject(tooMuch(5));
    entries.push(tokens(now, 60));
    await expect(limits.admit(of('b', agent))).rejects.toMatchObject(tooMuch(9));
  });

  it('also applies to resumed turns', async () => {
    const { limits } = limited({ entries: [tokens(now, 100)] });
    const goesOn = of('a', agent, { isNewRequest: false });
    await expect(limits.admit(goesOn)).rejects.toMatchObject({ code: 'usage-limit' });
  });

  it('waits until the read model has the usage of an answer whose end was reported', async () => {
    const { limits, store, waits } = limited({ reaches: tokens(now, 100) });
    await limits.admit(of('a', agent));
    await askedTurn(store, 'of-a', 'a');
    expect(waits).toEqual([undefined]);
    limits.endSeen('a');
    const outcomes = await Promise.allSettled(['b', 'c'].map((id) => limits.admit(of(id, agent))));
    expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    expect(waits.slice(1)).toEqual([await store.head(), await store.head()]);
  });

  it('counts the usage before a reported pause, also for the same turn when it resumes', async () => {
    const { limits, store } = limited({ reaches: tokens(now, 100) });
    await limits.admit(of('a', agent));
    await askedTurn(store, 'of-a', 'a');
    limits.endSeen('a');
    await expect(limits.admit(of('a', agent, { isNewRequest: false }))).rejects.toMatchObject({ code: 'usage-limit' });
  });

  it('counts the usage of a resumed turn although a second resumption of it was withdrawn', async () => {
    const { limits, store } = limited({ reaches: tokens(now, 100) });
    const [first, second] = [of('a', agent, { isNewRequest: false }), of('a', agent, { isNewRequest: false })];
    await limits.admit(first);
    await limits.admit(second);
    limits.withdraw(second);
    await askedTurn(store, 'of-a', 'a');
    limits.endSeen('a');
    await expect(limits.admit(of('b', agent))).rejects.toMatchObject({ code: 'usage-limit' });
  });

  it('gives the later retry time where a limit of requests is reached too', async () => {
    const { limits } = limited({ entries: [tokens(ago(WINDOW_MS - 5000), 100), request(ago(WINDOW_MS - 9000))] });
    await expect(limits.admit(of('a', { tokenLimit: 100, requestLimit: 1 }))).rejects.toMatchObject(tooMuch(9));
  });
});

describe('the quota of a link', () => {
  const byLink = (turnId: string, agent?: Partial<LimitedAgent>) => ({ ...of(turnId, agent), linkId: 'l1' });

  it('applies in addition to the limits of the agent', async () => {
    const { limits } = limited({ entries: [request(ago(1000)), request(ago(500)), request(ago(100))] });
    await limits.admit(of('a'));
    await expect(limits.admit(byLink('b'))).rejects.toMatchObject(tooMuch(WINDOW_MS / 1000 - 1));
    await expect(limits.admit({ ...signedIn('c'), linkId: 'l1' })).rejects.toMatchObject(tooMuch(WINDOW_MS / 1000 - 1));
  });

  it('also limits tokens', async () => {
    const { limits } = limited({ entries: [tokens(ago(1000), 1000)] });
    await limits.admit(of('a'));
    await expect(limits.admit(byLink('b'))).rejects.toMatchObject(tooMuch(WINDOW_MS / 1000 - 1));
  });

  it('holds for concurrent requests through two processes', async () => {
    const { limits, another } = limited();
    const admitted = await Promise.allSettled(
      ['a', 'b', 'c', 'd', 'e'].map((turnId, at) => (at % 2 ? limits : another()).admit(byLink(turnId))),
    );
    expect(admitted.filter(({ status }) => status === 'fulfilled')).toHaveLength(3);
  });

  it('releases its place when the limit of the agent refuses the request', async () => {
    const { limits } = limited({ entries: [request(ago(1000))] });
    for (const turnId of ['a', 'b', 'c', 'd']) await limits.admit(byLink(turnId, { requestLimit: 1 })).catch(() => undefined);
    await limits.admit(byLink('e'));
  });
});

describe('a quota', () => {
  const untilDecember = (Date.parse('2026-12-01T00:00:00Z') - now.getTime()) / 1000;

  it('applies to signed-in users, callers with an agent key and runs alike', async () => {
    const { limits, quota } = limited({ entries: [tokens(ago(1000), 100)], quota: 100 });
    const refusal = { code: 'quota-exceeded', retryAfterSeconds: untilDecember };
    await expect(limits.admit(signedIn('a'))).rejects.toMatchObject(refusal);
    await expect(limits.admit(of('b'))).rejects.toMatchObject(refusal);
    expect(await quota.check('ann')).toEqual({ allowed: false, error: expect.stringContaining('100 of 100 tokens') });
  });

  it('admits requests while usage is below the limit', async () => {
    const { limits, quota } = limited({ entries: [tokens(ago(1000), 99)], quota: 100 });
    await limits.admit(signedIn('a'));
    expect(await quota.check('ann')).toEqual({ allowed: true });
  });

  it('counts from the start of the period, inclusive', async () => {
    const start = new Date('2026-11-01T00:00:00Z');
    const refused = limited({ entries: [tokens(start, 100)], quota: 100 });
    await expect(refused.limits.admit(signedIn('a'))).rejects.toMatchObject({ code: 'quota-exceeded' });
    await limited({ entries: [tokens(new Date(start.getTime() - 1), 100)], quota: 100 }).limits.admit(signedIn('a'));
  });

  it('is checked after the limits of the agent', async () => {
    const { limits } = limited({ entries: [tokens(ago(1000), 100)], quota: 100 });
    await expect(limits.admit(of('a', { tokenLimit: 100 }))).rejects.toMatchObject({ code: 'usage-limit' });
  });
});

it('nothing is read where nothing is limited', async () => {
  const { limits, waits } = limited();
  await limits.admit(of('a'));
  await limits.admit(signedIn('b'));
  expect(waits).toEqual([]);
});
