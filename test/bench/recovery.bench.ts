import { setTimeout as pause } from 'node:timers/promises';
import postgres from 'postgres';
import { type MeasuredService, startService } from './measured-service.js';
import { startProgram } from './program.js';
import { type Bench, median } from './report.js';
import { postStream, read } from './token-reader.js';

const STREAMS = 50;
const KILLS = 6;
/** Long enough that all answers are still running when the process is killed. */
const ANSWER = 'paced 600 tokens 50 ms';
const LOOK_MS = 20;

/** Asks questions. Resolves once all of their answers are being streamed. */
async function underWay(service: MeasuredService): Promise<void> {
  const begun = Array.from(
    { length: STREAMS },
    () =>
      new Promise<void>((resolve, reject) => {
        // The kill cuts these streams, which is expected.
        read(...postStream(service.url, ANSWER), { onToken: () => resolve() }).catch(reject);
      }),
  );
  await Promise.all(begun);
}

/** The time at which all questions are sealed, according to the log. */
async function allSealed(databaseUrl: string): Promise<number> {
  const sql = postgres(databaseUrl, { max: 1 });
  try {
    for (;;) {
      const [row] = await sql<{ open: number }[]>`
        select (count(*) filter (where type = 'TurnAsked') - count(*) filter (where type = 'TurnSealed'))::integer as open
        from event_store.event where category = 'conversation'`;
      if (row!.open === 0) return performance.now();
      await pause(LOOK_MS);
    }
  } finally {
    await sql.end();
  }
}

async function answersHealth(service: MeasuredService): Promise<number> {
  await read(`${service.url}/api/health`, {}, {});
  return performance.now();
}

/** How long readers wait for answers that a killed process has abandoned, until each has ended in any way. */
export const bench: Bench = {
  name: 'recovery',
  title: `${STREAMS} answers under way, kill -9, and a restart`,
  async run(context) {
    const model = await startProgram('paced-model');
    const service = await startService(context, { OPENAI_BASE_URL: `${model.url}/v1`, TITLE_MODEL_ID: 'none' });
    const sealed: number[] = [];
    const healthy: number[] = [];
    for (let kill = 1; kill <= KILLS; kill++) {
      await underWay(service);
      const since = await service.restart();
      const [sealedAt, healthyAt] = await Promise.all([allSealed(service.databaseUrl), answersHealth(service)]);
      sealed.push((sealedAt - since) / 1000);
      healthy.push((healthyAt - since) / 1000);
      context.say(`kill ${kill}: sealed after ${sealed.at(-1)!.toFixed(2)} s, healthy after ${healthy.at(-1)!.toFixed(2)} s`);
    }
    await Promise.all([service.stop(), model.stop()]);
    const figure = (name: string, of: (values: readonly number[]) => number) => ({
      name: `all that was left is sealed, ${name}`,
      value: of(sealed),
      unit: 's',
      baseline: { name: 'the process answers /api/health', value: of(healthy) },
      target: { atMost: 10 },
    });
    return {
      figures: [figure('median', median), figure('at most', (values) => Math.max(...values))],
      notes: [
        `${KILLS} kills; both from the start of the new process, including that of its Postgres.`,
        'If several processes share leases over NATS, the lease of the killed one has to expire first: STALE_PRODUCER_SECONDS / 2.',
      ],
    };
  },
};
