import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import postgres, { type Sql } from 'postgres';
import { currentVersion, encodeMetadata } from '../../src/kernel/event-sourcing/codec.js';
import { Streams } from '../../src/kernel/event-sourcing/streams.js';
import { PostgresEventStore } from '../../src/platform/event-store/postgres/postgres-event-store.js';
import { schedule } from '../../src/triggers/schedules/schedule/schedule.decider.js';
import { startService } from './measured-service.js';
import { startProgram } from './program.js';
import type { Bench, Figure } from './report.js';
import { agentOf, cause, make, scheduleNow, sideBySide, WRITERS } from './stored-schedules.js';
import { systemTiming } from '../../src/platform/system-timing.js';

const SCHEDULES = 100_000;
const DUE = 1_000;
const TEMPLATE_ID = '00000000-0000-4000-8000-000000000001';
const MINUTE_MS = 60_000;
/** The time between the creation of the last schedule and the minute in which the measured ones become due. */
const LEAD_MS = 4_000;
const PATIENCE_MS = 60_000;
const LOOK_EVERY_MS = 200;

/** Schedules that are not due soon, written in the event store's format but much faster, each with a different id. */
async function filled(sql: Sql, agentId: string): Promise<void> {
  const [event] = scheduleNow(TEMPLATE_ID, { ownerId: 'local', agentId, cron: '0 9 29 2 *', timezone: 'UTC' })(schedule.initial);
  const { type, data } = event!;
  const metadata = encodeMetadata(cause, currentVersion(schedule.codec, type));
  await sql.begin(async (tx) => {
    await tx`select set_config('statement_timeout', '0', true), set_config('synchronous_commit', 'off', true)`;
    await tx`lock table event_store.event in exclusive mode`;
    await tx`
      with made as materialized (
        insert into event_store.stream (name, category, revision)
        select 'schedule-' || gen_random_uuid(), 'schedule', 0 from generate_series(1, ${SCHEDULES - DUE})
        returning number, substr(name, length('schedule-') + 1) as id)
      insert into event_store.event (position, stream, revision, category, id, at, type, data, metadata)
      select nextval('event_store.position'), number, 0, 'schedule', gen_random_uuid(), now(), ${type},
        replace(${JSON.stringify(data)}::text, ${TEMPLATE_ID}, id), ${metadata}
      from made`;
  });
}

/** The same number of rows, each committed separately, by as many writers as the service has. */
async function inserted(sql: Sql): Promise<number> {
  await sql`create table raw_slot (id uuid primary key, slot timestamptz not null)`;
  const since = performance.now();
  await sideBySide(DUE, () => sql`insert into raw_slot values (${randomUUID()}, now())`);
  return performance.now() - since;
}

const untilRows = async (sql: Sql, count: number): Promise<void> => {
  const until = performance.now() + PATIENCE_MS;
  for (;;) {
    const [row] = await sql<{ made: number }[]>`select count(*)::integer as made from schedules.schedule`;
    if (row!.made >= count) return;
    if (performance.now() > until) throw new Error(`${row!.made} schedules of ${count} are in the read model.`);
    await pause(LOOK_EVERY_MS);
  }
};

/** The time from a moment to the last of DUE stored events of a type, in milliseconds. */
async function lastOf(sql: Sql, type: string, since: number, after: string): Promise<number> {
  for (const until = performance.now() + PATIENCE_MS; ; await pause(LOOK_EVERY_MS)) {
    const [row] = await sql<{ count: number; last: Date | null }[]>`
      select count(*)::integer as count, max(at) as last from event_store.event
      where type = ${type} and position > ${after}`;
    if (row!.count >= DUE) return row!.last!.getTime() - since;
    if (performance.now() > until) throw new Error(`${row!.count} of ${DUE} events ${type} came.`);
  }
}

/** The time from the due minute until a thousand runs are queued, among a hundred thousand schedules that are not due. */
export const bench: Bench = {
  name: 'due-schedules',
  title: `${DUE} of ${SCHEDULES} schedules come due in the same minute`,
  async run(context) {
    const model = await startProgram('paced-model');
    const service = await startService(context, { OPENAI_BASE_URL: `${model.url}/v1`, TITLE_MODEL_ID: 'none' });
    const store = new PostgresEventStore({ url: service.databaseUrl });
    const sql = postgres(service.databaseUrl, { max: WRITERS, onnotice: () => undefined });
    const streams = new Streams(store, systemTiming);
    const agentId = await agentOf(service.url);
    context.say(`making ${SCHEDULES} schedules`);
    const since = performance.now();
    await filled(sql, agentId);
    await untilRows(sql, SCHEDULES - DUE);
    const seconds = (performance.now() - since) / 1000;
    const due = Math.ceil((Date.now() + LEAD_MS) / MINUTE_MS) * MINUTE_MS;
    context.say(`made within ${seconds.toFixed(1)} s; the measured ones are due at ${new Date(due).toISOString()}`);
    const cron = `${new Date(due).getUTCMinutes()} * * * *`;
    await sideBySide(DUE, () => make(streams, { ownerId: 'local', agentId, cron, timezone: 'UTC' }));
    await untilRows(sql, SCHEDULES);
    const [head] = await sql<{ position: string }[]>`select max(position)::text as position from event_store.event`;
    await pause(due - Date.now());
    const last = (type: string) => lastOf(sql, type, due, head!.position);
    const decidedMs = await last('ScheduleRunQueued');
    const queuedMs = await last('TaskQueued');
    const overMs = await last('ScheduleRunEnded');
    const insertedMs = await inserted(sql);
    await Promise.all([store.close(), sql.end()]);
    await Promise.all([service.stop(), model.stop()]);
    const baseline = { name: `${DUE} INSERTs, ${WRITERS} at a time`, value: insertedMs / 1000 };
    const figure = (name: string, ms: number): Figure => ({ name, value: ms / 1000, unit: 's', baseline });
    return {
      figures: [
        figure('every slot is decided on after', decidedMs),
        { ...figure('every run is queued after', queuedMs), target: { atMost: 5 } },
        figure('every run is over after', overMs),
      ],
      notes: ['From the start of the minute. The ticker polls for due slots once a second.'],
    };
  },
};
