import { mkdtemp, rm } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { expect } from '@jest/globals';
import type { ConversationEvent } from '../../src/dialogue/conversation/conversation.events.js';
import type { MonitorEvent } from '../../src/triggers/monitors/monitor/monitor.events.js';
import type { FollowUpsEvent } from '../../src/background/follow-ups/follow-ups.events.js';
import type { Backing } from '../support/backing.js';
import { Client } from '../support/client.js';
import { eventually } from '../support/eventually.js';
import { LocalServer } from '../support/local-server.js';
import { call, say, ScriptedModelServer } from '../support/scripted-model-server.js';
import { Seeded } from '../support/seeded.js';
import { TEST_SETTINGS } from '../support/service.js';
import { TwoClocks } from '../support/two-clocks.js';

const MINUTE_MS = 60_000;
const LEAP_MS = 5 * MINUTE_MS;
/** Tickers run every second. Most leaps are seen by both processes, some by only one, or in the middle of its work. */
const LEAP_LASTS_MS = 800;
const LEAP_LASTS_MORE_MS = 700;
/** A chat can have only this many automatic turns in a row, because no user asks in between. No monitor may find more. */
const FINDINGS_MAX = 5;
/**
 * The number of leaps within which the last publication must be found. A claim made by a fast clock expires much later for a slow
 * one.
 */
const LEAPS_MAX = 60;

const SHOPS = ['/tea', '/coffee', '/cocoa'] as const;
type Shop = (typeof SHOPS)[number];

const SETTINGS = {
  ...TEST_SETTINGS,
  TITLE_MODEL_ID: 'none',
  OPENAI_API_KEY: 'scripted',
  MONITOR_MAX_WAKES_PER_HOUR: '100',
  MONITOR_UNREACHABLE_GRACE_SECONDS: '360000',
};

/** Pages that get new lines, and a server that delays its responses on request. */
class Shops {
  readonly published = new Map<Shop, string[]>(SHOPS.map((shop) => [shop, []]));
  /** The delayed responses of the shop that is held. */
  readonly held: ServerResponse[] = [];
  private holding: Shop | undefined;

  constructor(readonly server: LocalServer) {
    server.answer = ({ path }, response) => {
      if (path === this.holding) this.held.push(response);
      else this.serve(path as Shop, response);
    };
  }

  publish(shop: Shop): void {
    const items = this.published.get(shop)!;
    if (items.length < FINDINGS_MAX) items.unshift(`item ${items.length + 1} of ${shop}.`);
  }

  hold(shop: Shop): void {
    this.holding = shop;
  }

  /** Sends the delayed responses. */
  release(): void {
    for (const response of this.held.splice(0)) this.serve(this.holding!, response);
    this.holding = undefined;
  }

  private serve(shop: Shop, response: ServerResponse): void {
    response.writeHead(200, { 'content-type': 'text/plain' }).end(['Catalogue', ...this.published.get(shop)!].join('\n'));
  }
}

/** The events of a category, read from the log without the service's code. */
async function told<E>({ store }: Backing, category: string): Promise<readonly E[]> {
  const all: E[] = [];
  for await (const { events } of store.readAll({ after: -1n, filter: { categories: [category] } })) {
    all.push(...events.map(({ type, data }) => ({ type, data: JSON.parse(data) as unknown }) as E));
  }
  return all;
}

const ofType = <E extends { type: string }, T extends E['type']>(events: readonly E[], type: T) =>
  events.filter((event): event is Extract<E, { type: T }> => event.type === type);

/** Lets a separate chat monitor each shop. */
async function watch(model: ScriptedModelServer, client: Client, shops: Shops): Promise<void> {
  for (const shop of SHOPS) {
    const source = { type: 'webpage', url: shops.server.url + shop };
    const asked = { description: `News of ${shop}`, source, check: { type: 'new_items' }, interval: '5m', max_wakes: 20 };
    model.next([call(`call-${shop}`, 'monitor_create', asked)], say('Done.'));
    await client.stream({ question: 'Watch it.', visibility: 'listed' });
    const shown = model.completions.at(-1)!.body.messages.findLast(({ role }) => role === 'tool');
    expect(String(shown?.content)).toContain('"status":"active"');
  }
}

/** Expects each check to start in order, when it is due and unclaimed, and to end at most once. */
function expectEachCheckOnce(events: readonly MonitorEvent[]): void {
  let next = '';
  let open: Readonly<{ check: number; leaseUntil: string }> | null = null;
  let checks = 0;
  for (const { type, data } of events) {
    if (type === 'MonitorCreated') next = data.nextCheckAt;
    if (type === 'MonitorCheckStarted') {
      expect(data.check).toBe(checks + 1);
      expect(data.startedAt >= next).toBe(true);
      if (open) expect(data.startedAt >= open.leaseUntil).toBe(true);
      ({ check: checks } = data);
      open = data;
    }
    if (type === 'MonitorChecked') {
      expect([data.check, data.outcome]).toEqual([open?.check, expect.stringMatching(/^(unchanged|matched|unreachable)$/)]);
      expect(data.nextCheckAt > next).toBe(true);
      next = data.nextCheckAt;
      open = null;
    }
  }
}

const itemsIn = (texts: readonly string[]): readonly string[] =>
  texts.flatMap((text) => text.match(/item \d+ of \/\w+\./g) ?? []).toSorted();

const found = (events: readonly MonitorEvent[]) =>
  itemsIn(ofType(events, 'MonitorFollowUpRequested').map(({ data }) => data.text));

/** Expects each finding in exactly one follow-up of exactly one turn, which has ended. */
function expectEachFollowUpOnce(
  monitors: readonly MonitorEvent[],
  followUps: readonly FollowUpsEvent[],
  turns: readonly ConversationEvent[],
) {
  const keys = ofType(monitors, 'MonitorFollowUpRequested').map(({ data }) => `monitor:${data.monitorId}:${data.followUp}`);
  const requested = ofType(followUps, 'FollowUpRequested').map(({ data }) => data.dedupeKey);
  expect(requested.toSorted()).toEqual(keys.toSorted());
  const [delivered, folded] = [ofType(followUps, 'FollowUpDelivered'), ofType(followUps, 'FollowUpMerged')];
  expect(delivered.length + folded.length).toBe(keys.length);
  const automatic = ofType(turns, 'TurnAsked').filter(({ data }) => data.origin);
  const idsOf = (events: readonly { data: { turnId: string } }[]) => events.map(({ data }) => data.turnId).toSorted();
  expect(idsOf(automatic)).toEqual(idsOf(delivered));
  expect(itemsIn(automatic.map(({ data }) => data.question))).toEqual(found(monitors));
}

/** The number of events by type. */
async function tally(backing: Backing): Promise<string> {
  const counts: Record<string, number> = {};
  for (const category of ['monitor', 'followUps', 'conversation']) {
    for (const { type } of await told<MonitorEvent | FollowUpsEvent | ConversationEvent>(backing, category))
      counts[type] = (counts[type] ?? 0) + 1;
  }
  return JSON.stringify(counts);
}

/** Two processes with different clocks check the same pages and are killed during checks: each finding is delivered once. */
export async function monitorsFaultStory(backing: Backing, seed: number): Promise<void> {
  const random = new Seeded(seed);
  const model = await ScriptedModelServer.start();
  model.always(say('Noted.'));
  const shops = new Shops(await LocalServer.started());
  const dataDir = await mkdtemp(join(tmpdir(), 'verbatim-monitors-'));
  const allowed = { ALLOWED_PRIVATE_HOSTS: shops.server.host, DATA_DIR: dataDir };
  const environment = { ...SETTINGS, ...backing.environment, ...allowed, OPENAI_BASE_URL: model.url };
  const monitors = () => told<MonitorEvent>(backing, 'monitor');
  let clocks: TwoClocks | undefined;
  const leap = async () => {
    clocks!.leap(LEAP_MS);
    await pause(LEAP_LASTS_MS + random.next() * LEAP_LASTS_MORE_MS);
  };
  const leapUntil = async (isSo: () => boolean | Promise<boolean>, what: string) => {
    for (let leaps = 0; !(await isSo()); leaps++) {
      if (leaps === LEAPS_MAX) throw new Error(`Not so after ${leaps} leaps: ${what}`);
      await leap();
    }
  };
  try {
    clocks = await TwoClocks.start(random, environment);
    await watch(model, new Client(clocks.urlOf(1)), shops);

    // Both processes are killed while one of them checks.
    shops.publish('/tea');
    shops.hold('/tea');
    await leapUntil(() => shops.held.length > 0, 'somebody looks');
    await Promise.all([clocks.kill(0), clocks.kill(1)]);
    shops.release();

    // A check is so slow that its claim expires, and another process checks too.
    shops.publish('/coffee');
    shops.hold('/coffee');
    await leapUntil(() => shops.held.length > 1, 'two look at once');
    shops.release();

    for (let round = 0; round < FINDINGS_MAX; round++) {
      for (const shop of SHOPS) if (random.oneIn(2)) shops.publish(shop);
      await leap();
      if (round % 2 === 0) await clocks.kill(random.between(0, 1));
    }
    const published = [...shops.published.values()].flat().toSorted();
    await leapUntil(async () => found(await monitors()).length >= published.length, 'everything is found');
    clocks.leap(6 * LEAP_MS);
    await eventually(async () => {
      const followUps = await told<FollowUpsEvent>(backing, 'followUps');
      const settled = [...ofType(followUps, 'FollowUpDelivered'), ...ofType(followUps, 'FollowUpMerged')];
      const turns = await told<ConversationEvent>(backing, 'conversation');
      // A process that is killed during an answer leaves it interrupted. The finding counts as delivered.
      const over = [...ofType(turns, 'TurnAnswered'), ...ofType(turns, 'TurnFailed')];
      const isOver = ofType(turns, 'TurnAsked').length === over.length;
      return isOver && settled.length === ofType(await monitors(), 'MonitorFollowUpRequested').length;
    });
    await clocks.close();

    const events = await monitors();
    const ids = ofType(events, 'MonitorCreated').map(({ data }) => data.monitorId);
    for (const id of ids) expectEachCheckOnce(events.filter(({ data }) => data.monitorId === id));
    expect(found(events)).toEqual(published);
    expectEachFollowUpOnce(events, await told(backing, 'followUps'), await told(backing, 'conversation'));
    const count = (type: MonitorEvent['type']) => ofType(events, type).length;
    // The killed check did not end. Whether another check is overtaken depends on the timing.
    expect(count('MonitorCheckStarted')).toBeGreaterThan(count('MonitorChecked'));
    process.stdout.write(
      `${count('MonitorChecked')} checks of ${count('MonitorCheckStarted')}, ${published.length} findings over ${clocks.kills} kills\n`,
    );
  } catch (error) {
    throw new Error(`Seed ${seed}: ${String(error)}\n${await tally(backing)}\n${clocks?.output}`, { cause: error });
  } finally {
    await clocks?.close();
    await model.close();
    await shops.server.close();
    await backing.close();
    await rm(dataDir, { recursive: true, force: true });
  }
}
