import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { KeyValue } from '../../src/kernel/messaging/key-value.js';
import { newId } from '../../src/kernel/ids.js';
import { monitorStream } from '../../src/triggers/monitors/monitor/monitor.events.js';
import { SCHEDULER_KEPT_UP } from '../../src/triggers/schedules/key-value-scheduler-heartbeat.js';
import { SCHEDULER_BEHIND_MAX_MS } from '../../src/triggers/schedules/scheduler-heartbeat.port.js';
import { runIdOf } from '../../src/triggers/schedules/schedule/schedule.events.js';
import { nextSlot } from '../../src/triggers/schedules/schedule/slots.policy.js';
import { sourceStream } from '../../src/resources/sources/source/source.events.js';
import { append } from '../support/accounts.js';
import {
  type Fields,
  type Planned,
  DAY_MS,
  every,
  given,
  HOUR_MS,
  iso,
  MINUTE_MS,
  now,
  planned,
  query,
  ran,
  scheduledAgentOf,
  scheduleOf,
  shown,
  somebody,
  YEARLY,
} from '../support/activity.js';
import type { MakeBacking } from '../support/backing.js';
import { eventually } from '../support/eventually.js';
import { openWorld, replyOf, type World } from '../support/world.js';

/** The calendar of what is planned for a user and how it ended, with every state and every documented field. */
export function calendarStory(makeBacking: MakeBacking): void {
  let world: World;

  beforeAll(async () => {
    world = await openWorld({}, makeBacking);
  });
  afterAll(async () => {
    await world.close();
  });

  describe('the calendar', () => {
    it.each<[Fields, string]>([
      [{ tz: 'Mars/Olympus' }, 'unknown timezone'],
      [{ tz: '+02:00' }, 'unknown timezone'],
      [{ from: 'soon' }, 'invalid from'],
      [{ to: '2026-13-01' }, 'invalid to'],
      [{ from: '+275760-01-01T00:00:00Z' }, 'invalid from'],
      [{ from: '2026-02-02', to: '2026-02-01' }, 'to must not be before from'],
      [{ from: '2026-01-01', to: '2026-03-04T00:00:01' }, 'the window must not be longer than 62 days'],
    ])('refuses the parameters %j', async (fields, message) => {
      const { status, body } = await replyOf(world.alice.get(`/api/activity/planned?${query(fields)}`));
      expect([status, body]).toEqual([400, { success: false, message }]);
    });

    it('covers at most 62 days, even across clock changes, and nothing in an empty interval', async () => {
      for (const [from, to] of [
        ['2026-01-01', '2026-03-04'],
        ['2026-03-01', '2026-05-02'],
        ['2026-01-01', '2026-01-01'],
      ]) {
        expect((await world.alice.get(`/api/activity/planned?${query({ from, to, tz: 'Europe/Prague' })}`)).status).toBe(200);
      }
    });

    it('shows future slots of active schedules as planned and those of paused ones as paused, in the viewer’s time zone', async () => {
      const { name, client } = await somebody(world);
      const start = Date.now();
      const year = new Date(start).getUTCFullYear() + 1;
      const active = await scheduleOf(world, name, every('0 9 * * *', 'Europe/Prague'), start);
      const paused = await scheduleOf(world, name, every('30 9 1 2 *', 'Europe/Prague'), start, null);
      await given(world, paused, { type: 'SchedulePaused', data: { scheduleId: paused, pausedAt: iso(start) } });
      const runAt = `${year}-02-01T10:00:00.000Z`;
      const once = await scheduleOf(world, name, { kind: 'once', runAt, timezone: 'UTC' }, start, 'Once');
      const window = { from: `${year}-02-01T00:00:00`, to: `${year}-02-02T00:00:00`, tz: 'Europe/Prague' };
      const { events, truncated } = await shown(client, window, 3);
      const common = { kind: 'schedule', agent_id: await scheduledAgentOf(world) };
      expect(events).toEqual([
        { ...common, state: 'planned', at: `${year}-02-01T08:00:00.000Z`, schedule_id: active, name: 'Report' },
        { ...common, state: 'paused', at: `${year}-02-01T08:30:00.000Z`, schedule_id: paused, name: 'Sum up.' },
        { ...common, state: 'planned', at: runAt, schedule_id: once, name: 'Once' },
      ]);
      expect(truncated).toEqual([]);
      // An unencoded plus of an offset is accepted too.
      const later = await replyOf(client.get(`/api/activity/planned?from=${year}-02-01T08:30:01+00:00&to=${year}-02-02`));
      expect((later.body as Planned).events.map(({ name: each }) => each)).toEqual(['Once']);
      expect((await planned(await world.as('a-stranger'), window)).events).toEqual([]);
    });

    it('shows each past slot as the run that it led to, and runs on demand', async () => {
      const { name, client } = await somebody(world);
      const day = Math.floor(Date.now() / DAY_MS) * DAY_MS - 5 * DAY_MS;
      const id = await scheduleOf(world, name, YEARLY, day - DAY_MS);
      const [good, bad, late] = [day + HOUR_MS, day + 2 * HOUR_MS, day + 3 * HOUR_MS];
      const overlap = { scheduleId: id, slot: iso(day + 4 * HOUR_MS), nextSlotAt: iso(day + 300 * DAY_MS) };
      const asked = { scheduleId: id, runId: newId(), requestedAt: iso(day + 6 * HOUR_MS) };
      await given(world, id, ...ran(id, good, 'success'), ...ran(id, bad, 'failed'), ...ran(id, late, 'timeout'));
      await given(world, id, { type: 'ScheduleSlotSkipped', data: { ...overlap, reason: 'overlap' } });
      await given(world, id, { type: 'ScheduleRunRequested', data: asked });
      const { events } = await shown(client, { from: iso(day), to: iso(day + DAY_MS) }, 5);
      const common = { kind: 'schedule', schedule_id: id, agent_id: await scheduledAgentOf(world), name: 'Report' };
      const run = (at: number, status: string, errorType: string | null, runId = runIdOf(id, iso(at))) => ({
        ...common,
        status,
        run_id: runId,
        error_type: errorType,
        at: iso(at),
      });
      expect(events.slice(0, 4)).toEqual([
        run(good, 'success', null),
        run(bad, 'failed', 'agent_error'),
        run(late, 'timeout', 'timeout'),
        run(day + 4 * HOUR_MS, 'skipped', 'overlap'),
      ]);
      // No process runs it, so it times out eventually.
      expect(events[4]).toMatchObject({ run_id: asked.runId, at: asked.requestedAt });
      expect(events[4]!['status']).toMatch(/^(pending|timeout)$/);
    });

    it('shows slots without a run as missed after ten minutes, since the last change of the schedule, and none of a paused one', async () => {
      const { name, client } = await somebody(world);
      const current = Math.floor(Date.now() / MINUTE_MS) * MINUTE_MS;
      const minutely = every('* * * * *');
      const id = await scheduleOf(world, name, minutely, current - 25 * MINUTE_MS);
      const window = { from: iso(current - HOUR_MS), to: iso(current - 10 * MINUTE_MS) };
      const missed = await shown(client, window, 14);
      expect(new Set(missed.events.map(({ state }) => state))).toEqual(new Set(['missed']));
      expect(missed.events[0]).toEqual({
        kind: 'schedule',
        state: 'missed',
        at: iso(current - 24 * MINUTE_MS),
        schedule_id: id,
        agent_id: await scheduledAgentOf(world),
        name: 'Report',
      });
      // Slots in the log and those that are not decided yet do not overlap.
      expect(new Set(missed.events.map(({ at }) => at)).size).toBe(missed.events.length);
      const since = await planned(client, { from: iso(Date.now() - 9 * MINUTE_MS), to: iso(Date.now()) });
      expect(since.events.filter(({ state }) => state === 'missed')).toEqual([]);
      const act = (action: string) => client.patch(`/api/schedules/${id}`, { action });
      expect((await act('pause')).status).toBe(200);
      expect((await planned(client, window)).events).toEqual([]);
      expect((await act('resume')).status).toBe(200);
      expect((await planned(client, window)).events).toEqual([]);
    });

    it('groups the slots of a frequent schedule by day, except failures', async () => {
      const { name, client } = await somebody(world);
      const today = Math.floor(Date.now() / DAY_MS) * DAY_MS;
      const quarterly = every('*/15 * * * *');
      const id = await scheduleOf(world, name, quarterly, Date.now());
      await given(world, id, ...ran(id, today - DAY_MS, 'success'), ...ran(id, today - DAY_MS + HOUR_MS, 'success'));
      await given(
        world,
        id,
        ...ran(id, today - DAY_MS + 2 * HOUR_MS, 'failed'),
        ...ran(id, today - DAY_MS + 3 * HOUR_MS, 'timeout'),
      );
      await given(world, id, {
        type: 'ScheduleChanged',
        data: {
          scheduleId: id,
          changes: { timing: quarterly },
          changedAt: iso(Date.now()),
          nextSlotAt: nextSlot(quarterly, new Date())!.toISOString(),
        },
      });
      const window = { from: iso(today - DAY_MS), to: iso(today + 20 * DAY_MS) };
      await eventually(async () => {
        const { events: seen } = await planned(client, window);
        return seen.some(({ status }) => status === 'timeout') && seen.some(({ count: sum }) => sum === 96);
      });
      const { events, truncated } = await planned(client, window);
      expect(truncated).toEqual([]);
      const common = { kind: 'schedule', schedule_id: id, agent_id: await scheduledAgentOf(world), name: 'Report' };
      expect(events.slice(0, 3)).toEqual([
        { ...common, status: 'success', at: iso(today - DAY_MS), count: 2, until: iso(today - DAY_MS + HOUR_MS) },
        expect.objectContaining({ status: 'failed', run_id: expect.any(String), at: iso(today - DAY_MS + 2 * HOUR_MS) }),
        expect.objectContaining({ status: 'timeout', run_id: expect.any(String), at: iso(today - DAY_MS + 3 * HOUR_MS) }),
      ]);
      const days = events.filter(({ state, at }) => state === 'planned' && Date.parse(at as string) >= today + DAY_MS);
      expect(days).toEqual(
        Array.from({ length: 19 }, (_, index) => {
          const day = today + (index + 1) * DAY_MS;
          return { ...common, state: 'planned', at: iso(day), count: 96, until: iso(day + DAY_MS - 15 * MINUTE_MS) };
        }),
      );
      // Ten days have fewer than a thousand, so each is shown.
      const single = await planned(client, { from: iso(today + DAY_MS), to: iso(today + 11 * DAY_MS) });
      expect([single.events.length, single.events[0]!['count']]).toEqual([960, undefined]);
    });

    it('shows future syncs of sources while the scheduler is not behind, and active monitors', async () => {
      const { name, client } = await somebody(world);
      const at = Date.now() + 2 * DAY_MS;
      const sources = ['Handbook', 'Blog'].map((title) => ({ id: newId(), name: title }));
      for (const source of sources) await synced(source.id, await world.idOf(name), source.name, at);
      const asked = await replyOf(client.post('/api/answer', { question: 'Dear?' }));
      const { conversation_id: conversationId } = asked.body as { conversation_id: string };
      const monitorId = newId();
      const definition = {
        description: 'Prices',
        source: { type: 'webpage', url: 'https://a.example/' },
        check: { type: 'changed' },
      };
      const more = { condition: null, onMatch: null, intervalSeconds: 900, followUpsMax: 1, expiresAt: iso(at + DAY_MS) };
      const created = {
        type: 'MonitorCreated',
        data: {
          monitorId,
          ownerId: await world.idOf(name),
          conversationId,
          agentId: null,
          definition: { ...definition, ...more },
          seen: { hash: '', items: [], holds: false, gist: '' },
          createdAt: iso(Date.now()),
          nextCheckAt: iso(at),
        },
      };
      await append(world.backing.store, monitorStream(monitorId), created);
      await eventually(async () => {
        const { events: seen, monitors: watching } = await planned(client);
        return (seen[0]?.['sources'] as readonly unknown[] | undefined)?.length === sources.length && watching.length === 1;
      });
      const { events, monitors } = await planned(client);
      expect(events).toEqual([{ kind: 'sync', at: iso(at), frequency: 'weekly', sources: expect.any(Array) }]);
      expect(events[0]!['sources']).toEqual(expect.arrayContaining(sources));
      expect(monitors).toEqual([
        {
          monitor_id: monitorId,
          description: 'Prices',
          status: 'active',
          conversation_id: conversationId,
          agent_id: null,
          interval_seconds: 900,
          next_check_at: iso(at),
          last_checked_at: expect.any(String),
          expires_at: iso(at + DAY_MS),
        },
      ]);
      expect((await now(client)).up_next).toEqual([
        { kind: 'monitor', at: iso(at), title: 'Prices', monitor_id: monitorId, agent_id: null, conversation_id: conversationId },
      ]);
      // The scheduler reports regularly that it is not behind, possibly in between.
      await eventually(async () => {
        await world.service.service.app
          .get(KeyValue, { strict: false })
          .put(SCHEDULER_KEPT_UP, iso(Date.now() - SCHEDULER_BEHIND_MAX_MS - 1));
        return (await planned(client)).events.length === 0;
      });
      await eventually(async () => (await planned(client)).events.length === 1);
    });

    async function synced(sourceId: string, ownerId: string, name: string, at: number): Promise<void> {
      const config = { chunking: { strategy: 'classic_chunk', max_tokens: 1250, min_tokens: 150, duplicate_headers: false } };
      const created = { type: 'SourceCreated', data: { sourceId, ownerId, name, config, remote: null } };
      const set = { type: 'SourceSyncFrequencySet', data: { sourceId, frequency: 'weekly', nextSyncAt: iso(at) } };
      await append(world.backing.store, sourceStream(sourceId), created, set);
    }
  });
}
