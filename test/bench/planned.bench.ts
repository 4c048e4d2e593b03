import { setTimeout as pause } from 'node:timers/promises';
import postgres, { type Sql } from 'postgres';
import { SessionTokens } from '../../src/resources/identity/session-tokens.js';
import { Streams } from '../../src/kernel/event-sourcing/streams.js';
import { PostgresEventStore } from '../../src/platform/event-store/postgres/postgres-event-store.js';
import { startService } from './measured-service.js';
import { type Bench, interleaved, median, quantile } from './report.js';
import { agentOf, make, sideBySide } from './stored-schedules.js';
import { read } from './token-reader.js';
import { systemTiming } from '../../src/platform/system-timing.js';

const SCHEDULES = 500;
const DAYS = 62;
const WARM_UP_ROUNDS = 5;
const ROUNDS = 40;
const PATIENCE_MS = 30_000;
const SECRET = 'a secret for benches that is long enough';
const OWNER = 'alice';
/** A user with one schedule, which is due every minute. */
const MINUTELY = 'bob';

/** From once a week to every quarter of an hour, in zones whose clocks change at different times. */
const CRONS = ['0 9 * * 1', '30 2 * * *', '0 8,12,16 * * 1-5', '0 * * * *', '*/15 * * * *'];
const ZONES = ['UTC', 'Europe/Prague', 'America/Santiago', 'Australia/Lord_Howe'];

async function millisecondsOf(work: () => Promise<unknown>): Promise<number> {
  const since = performance.now();
  await work();
  return performance.now() - since;
}

async function untilThere(sql: Sql): Promise<void> {
  for (const until = performance.now() + PATIENCE_MS; ; await pause(50)) {
    const [row] = await sql<{ made: number }[]>`select count(*)::integer as made from schedules.schedule`;
    if (row!.made > SCHEDULES) return;
    if (performance.now() > until) throw new Error(`${row!.made} schedules of ${SCHEDULES} are in the read model.`);
  }
}

/** How long a user with many schedules waits for the calendar of two months. */
export const bench: Bench = {
  name: 'planned',
  title: `The calendar of ${SCHEDULES} schedules over ${DAYS} days`,
  async run(context) {
    const service = await startService(context, { AUTH_TYPE: 'session_jwt', JWT_SECRET_KEY: SECRET, MODEL_IDS: '' });
    const bearer = async (userId: string) => `Bearer ${await new SessionTokens(SECRET).issue({ subject: userId, roles: [] })}`;
    const [authorization, minutely] = [await bearer(OWNER), await bearer(MINUTELY)];
    const store = new PostgresEventStore({ url: service.databaseUrl });
    const sql = postgres(service.databaseUrl, { max: 1, onnotice: () => undefined });
    const streams = new Streams(store, systemTiming);
    const [owner, busyOwner] = await Promise.all([idOf(service.url, authorization), idOf(service.url, minutely)]);
    const agentId = await agentOf(service.url, { authorization });
    const made = (number: number) => {
      const cron = CRONS[number % CRONS.length]!;
      return make(streams, { ownerId: owner, agentId, cron, timezone: ZONES[number % ZONES.length]! });
    };
    await sideBySide(SCHEDULES, made);
    await make(streams, { ownerId: busyOwner, agentId, cron: '* * * * *', timezone: 'America/Santiago' });
    await untilThere(sql);
    const from = new Date();
    const to = new Date(from.getTime() + DAYS * 86_400_000);
    const url = `${service.url}/api/activity/planned?from=${from.toISOString()}&to=${to.toISOString()}&tz=Europe/Prague`;
    const subjects = {
      planned: () => millisecondsOf(() => read(url, { headers: { authorization } }, {})),
      minutely: () => millisecondsOf(() => read(url, { headers: { authorization: minutely } }, {})),
      rows: () => millisecondsOf(() => sql`select * from schedules.schedule where owner_id = ${owner}`),
    };
    await interleaved(WARM_UP_ROUNDS, subjects);
    const { planned, minutely: counted, rows } = await interleaved(ROUNDS, subjects);
    const body = (await (await fetch(url, { headers: { authorization } })).json()) as { events: unknown[]; truncated: unknown[] };
    await Promise.all([store.close(), sql.end()]);
    await service.stop();
    const baseline = { name: 'reading the rows', value: median(rows) };
    return {
      figures: [
        { name: 'the calendar, median', value: median(planned), unit: 'ms', baseline, target: { atMost: 200 } },
        { name: 'the calendar, p99', value: quantile(planned, 0.99), unit: 'ms', baseline },
        { name: 'one schedule of every minute, median', value: median(counted), unit: 'ms', baseline, target: { atMost: 50 } },
      ],
      notes: [`${body.events.length} events, truncated for ${body.truncated.length} schedules.`],
    };
  },
};

async function idOf(url: string, authorization: string): Promise<string> {
  const response = await fetch(`${url}/api/user/me`, { headers: { authorization } });
  return ((await response.json()) as { user_id: string }).user_id;
}
