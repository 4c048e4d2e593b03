import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Logger } from '@nestjs/common';
import type { ExpiringQueries, OldOutput } from '../../../projections/expiring/expiring.queries.js';
import { eventsOf } from '../../../test/contracts/event-store.subject.js';
import { InMemoryEventStore } from '../../../test/support/in-memory-event-store.js';
import { LateReadModel } from '../../../test/support/late-read-model.js';
import { messageStream } from '../../dialogue/journal/message.events.js';
import type { EventStore } from '../../kernel/event-sourcing/event-store.js';
import type { Freshness } from '../../kernel/event-sourcing/freshness.js';
import { Streams } from '../../kernel/event-sourcing/streams.js';
import { ApplyRetention, DUE_PER_PAGE_MAX, DUE_PER_TICK_MAX } from './apply-retention.ticker.js';
import { ExpireJournals } from '../../dialogue/journal/expire-journals.js';
import { RetentionOptions } from './retention-options.js';
import { type Due, type RetentionRule, RetentionRules } from './retention-rule.port.js';
import { systemIds } from '../../platform/system-ids.js';
import { systemTiming } from '../../platform/system-timing.js';
import { JournalOptions } from '../../dialogue/journal/journal-options.js';
import { ExpireJournalsOfHandler } from '../../dialogue/journal/journals.commands.js';
import { commandsOver } from '../../../test/support/commands-over.js';

const DAY_S = 86_400;
const now = new Date('2026-02-01T00:00:00Z');
const ago = (seconds: number) => new Date(now.getTime() - 1000 * seconds);

class Rule implements RetentionRule {
  readonly name = 'things';
  readonly purged: string[] = [];
  /** The times for which it was asked what is due. */
  readonly times: Date[] = [];
  readonly broken = new Set<string>();
  constructor(private readonly things: readonly Due[]) {}

  due(at: Date, limit: number, after?: Due): Promise<readonly Due[]> {
    this.times.push(at);
    const from = after ? this.things.indexOf(after) + 1 : 0;
    return Promise.resolve(this.things.slice(from, from + limit));
  }

  purge(due: readonly Due[]): Promise<void> {
    if (due.some(({ id }) => this.broken.has(id))) return Promise.reject(new Error('broken'));
    this.purged.push(...due.map(({ id }) => id));
    return Promise.resolve();
  }
}

const things = (count: number) =>
  Array.from({ length: count }, (_, index): Due => ({ id: `t${index}`, since: ago(count - index) }));
const options = new RetentionOptions(3_600_000);
const database = { now: async () => now } as unknown as ExpiringQueries;
const head = { head: () => Promise.resolve(7n) } as unknown as EventStore;
const ticking = (...rules: RetentionRule[]) => tickingWith(new LateReadModel('expiring'), ...rules);
const tickingWith = (readModels: Freshness, ...rules: RetentionRule[]) =>
  new ApplyRetention(new RetentionRules(rules), database, head, readModels, options, systemIds);

beforeEach(() => void Logger.overrideLogger(false));
afterEach(() => void Logger.overrideLogger(['error']));

describe('a tick of the retention', () => {
  it('purges everything that is due under every rule, page by page', async () => {
    const [one, other] = [new Rule(things(2 * DUE_PER_PAGE_MAX + 1)), new Rule(things(1))];
    await ticking(one, other).tick(now);
    expect([one.purged.length, new Set(one.purged).size, other.purged]).toEqual([1001, 1001, ['t0']]);
  });

  it('lets the read models show a page of purges before the next, but does not wait for ever', async () => {
    const rule = new Rule(things(2 * DUE_PER_PAGE_MAX + 1));
    const waited: unknown[] = [];
    const reached: Freshness['reached'] = async (names, position) => {
      waited.push([names, position, rule.purged.length]);
      return false;
    };
    await tickingWith({ reached }, rule).tick(now);
    expect(waited).toEqual([
      [['expiring'], 7n, DUE_PER_PAGE_MAX],
      [['expiring'], 7n, 2 * DUE_PER_PAGE_MAX],
    ]);
    expect(rule.purged).toHaveLength(2 * DUE_PER_PAGE_MAX + 1);
  });

  it.each([
    ['years ahead', ago(-5 * 365 * DAY_S), now],
    ['ten minutes behind', ago(600), ago(600)],
  ])('purges nothing early by a clock that is %s', async (_, clock, at) => {
    const rule = new Rule(things(1));
    await ticking(rule).tick(clock);
    expect(rule.times).toEqual([at]);
  });

  it('purges at most DUE_PER_TICK_MAX items and leaves the rest to the next tick', async () => {
    const rule = new Rule(things(DUE_PER_TICK_MAX + 1));
    await ticking(rule).tick(now);
    expect(rule.purged).toHaveLength(DUE_PER_TICK_MAX);
  });

  it('continues after a page or a rule that fails', async () => {
    const [broken, sound] = [new Rule(things(DUE_PER_PAGE_MAX + 1)), new Rule(things(1))];
    broken.broken.add('t0');
    const away: RetentionRule = { name: 'away', due: () => Promise.reject(new Error('away')), purge: () => Promise.resolve() };
    await ticking(broken, away, sound).tick(now);
    expect([broken.purged, sound.purged]).toEqual([[`t${DUE_PER_PAGE_MAX}`], ['t0']]);
  });

  it('asks a rule that cannot tell its next page once', async () => {
    const rule = new Rule(things(2 * DUE_PER_PAGE_MAX));
    let asked = 0;
    const away: RetentionRule = {
      name: 'away',
      due: (...page) => (++asked === 1 ? rule.due(...page) : Promise.reject(new Error('away'))),
      purge: (due) => rule.purge(due),
    };
    await ticking(away).tick(now);
    expect([asked, rule.purged.length]).toEqual([2, DUE_PER_PAGE_MAX]);
  });
});

describe('journals of answers', () => {
  const sealed: OldOutput[] = [
    { id: 'one', since: ago(15 * DAY_S) },
    { id: 'two', since: ago(15 * DAY_S - 60) },
    { id: 'new', since: ago(13 * DAY_S) },
  ];
  const queries = {
    journals: (before: Date, limit: number, after?: OldOutput) =>
      Promise.resolve(sealed.filter(({ since }) => since < before && (!after || since > after.since)).slice(0, limit)),
  } as unknown as ExpiringQueries;

  let clock: Date;
  let store: InMemoryEventStore;
  beforeEach(async () => {
    clock = ago(15 * DAY_S);
    store = new InMemoryEventStore({ now: () => clock });
    const frame = { id: '1', type: 'f', data: '{}', metadata: '{}' };
    for (const { id } of sealed) await store.append(messageStream(id), 'none', [frame]);
    clock = now;
  });

  const rule = () =>
    new ExpireJournals(
      queries,
      store,
      commandsOver(new ExpireJournalsOfHandler(new Streams(store, systemTiming), { now: () => now })),
      new JournalOptions(true, 1, 14 * DAY_S),
    );
  /** The journals whose expiry was recorded. */
  const expired = async () => {
    const ids: string[] = [];
    for await (const { events } of store.readAll({ after: -1n, filter: { categories: ['journals'] } })) {
      ids.push(...events.flatMap(({ data }) => (JSON.parse(data) as { turnIds: string[] }).turnIds));
    }
    return ids.sort();
  };

  it('expire by their age, with one event although two processes tick at once and again', async () => {
    const tickers = [ticking(rule()), ticking(rule())];
    await Promise.all(tickers.map((ticker) => ticker.tick(now)));
    const head = await store.head();
    expect(await expired()).toEqual(['one', 'two']);
    for (const { id } of sealed.slice(0, 2)) expect(await eventsOf(store.read(messageStream(id)))).toEqual([]);
    await tickers[0]!.tick(now);
    expect(await store.head()).toBe(head);
  });

  it('expire although the age of one cannot be set', async () => {
    const setRetention = store.setRetention.bind(store);
    store.setRetention = async (stream, retention) => {
      if (stream === messageStream('one')) throw new Error('broken');
      await setRetention(stream, retention);
    };
    await ticking(rule()).tick(now);
    expect(await expired()).toEqual(['two']);
  });
});
