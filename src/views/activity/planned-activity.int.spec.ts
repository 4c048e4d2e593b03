import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { MonitorQueries } from '../../../projections/monitors/monitors.queries.js';
import { ReadModels } from '../../../projections/read-models.js';
import { ScheduleActivityQueries } from '../../../projections/schedules/schedule-activity.queries.js';
import type { SourceQueries } from '../../../projections/sources/sources.queries.js';
import { schedules } from '../../../projections/schedules/schedules.projection.js';
import { type TestDatabase, testDatabase } from '../../../test/support/postgres-for-tests.js';
import { projecting } from '../../../test/support/projecting.js';
import { PlannedActivity } from './planned-activity.js';
import { windowIn } from './planned-window.policy.js';

const DAY_MS = 86_400_000;
const NOW = new Date('2026-03-20T12:00:30Z');
const SCHEDULES = 500;
const rules = {
  missedAfterMs: 600_000,
  scheduleRunRetentionMs: 90 * DAY_MS,
  traceRetentionMs: 30 * DAY_MS,
  backgroundRetentionMs: 7 * DAY_MS,
};
const nothing = { syncsOf: async () => [], activeOf: async () => [] } as unknown as SourceQueries & MonitorQueries;

let database: TestDatabase;
let planned: PlannedActivity;
beforeAll(async () => {
  database = await testDatabase();
  await projecting(schedules, database.sql);
  const scheduler = { beat: async () => undefined, isKeepingUp: async () => false };
  planned = new PlannedActivity(new ScheduleActivityQueries(new ReadModels(database.sql)), nothing, nothing, scheduler, rules);
});
afterAll(() => database.close());

async function filled(ownerId: string, count: number, cron: (index: number) => string, nextSlotAt: Date | null): Promise<void> {
  const rows = Array.from({ length: count }, (_, index) => ({
    schedule_id: `${ownerId}-${index}`,
    owner_id: ownerId,
    created_via: 'ui',
    status: nextSlotAt ? 'active' : 'completed',
    instruction: 'Look.',
    trigger_type: 'recurring',
    cron: cron(index),
    timezone: ['Europe/Prague', 'America/Santiago', 'Australia/Lord_Howe', 'UTC'][index % 4]!,
    tool_allowlist: '[]',
    next_slot_at: nextSlotAt,
    marked_since: new Date(NOW.getTime() - 80 * DAY_MS),
    created_at: NOW,
    updated_at: NOW,
  }));
  for (const { tool_allowlist: _, ...row } of rows) {
    await database.sql`insert into schedules.schedule ${database.sql({ ...row, tool_allowlist: '[]' })}`;
  }
}
const ledger = (ownerId: string, every: string) => database.sql`
  insert into schedules.run (run_id, schedule_id, status, trigger_source, scheduled_for, created_at, updated_at)
  select schedule_id || ' ' || slot, schedule_id, case when extract(minute from slot) = 7 then 'failed' else 'success' end, 'cron', slot, slot, slot
  from schedules.schedule, generate_series(${new Date(NOW.getTime() - 31 * DAY_MS)}::timestamptz, ${NOW}::timestamptz, ${every}::interval) slot
  where owner_id = ${ownerId}`;

const window = (tz: string) => windowIn({ from: '2026-02-18', to: '2026-04-21', tz }, NOW);

const calendar = (ownerId: string) => planned.of(ownerId, window('Asia/Tokyo'), NOW);

it('shows all events of five hundred schedules in 62 days', async () => {
  await filled('daily', SCHEDULES, (index) => `${index % 60} ${index % 24} * * ${index % 3 === 0 ? '1-5' : '*'}`, NOW);
  await ledger('daily', '1 day');
  await database.sql`analyze`;
  const { events, truncated } = await calendar('daily');
  expect(truncated).toEqual([]);
  expect(events.length).toBeGreaterThan(25_000);
});

it('sums the past and coming slots of a schedule that runs every minute for 62 days', async () => {
  await filled('minutely', 1, () => '* * * * *', new Date('2026-03-20T12:01:00Z'));
  const { events, truncated } = await calendar('minutely');
  expect(truncated).toEqual([]);
  expect(events.map(({ at }) => at)).toHaveLength(32);
  await ledger('minutely', '1 minute');
  await database.sql`analyze`;
  const past = await calendar('minutely');
  const sums = past.events.flatMap((event) => ('count' in event && event.kind === 'schedule' ? [event] : []));
  const total = sums.filter((event) => 'status' in event).reduce((sum, { count }) => sum + count!, 0);
  // In 741 hours and a minute, one run an hour failed. Failed runs are not summed.
  expect(total).toBe(741 * 59 + 1);
  expect(past.events.length - sums.length).toBe(741);
});

it('shows the runs of completed schedules, one by one and summed', async () => {
  await filled('done', 4, () => '30 7 * * *', null);
  await ledger('done', '1 day');
  const { events, truncated } = await calendar('done');
  expect([events.length, truncated]).toEqual([4 * 31, []]);
  await filled('done-often', 1, () => '* * * * *', null);
  await ledger('done-often', '1 minute');
  const often = await calendar('done-often');
  const counted = often.events.reduce((sum, event) => sum + ('count' in event ? event.count : 1), 0);
  expect([counted, often.truncated]).toEqual([741 * 60 + 1, []]);
});
