import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { startEmbeddedPostgres } from '../../src/platform/postgres/embedded-postgres.js';
import { NatsServer } from '../support/nats-server.js';
import { type MeasuredService, startService } from './measured-service.js';
import { startProgram } from './program.js';
import { type Bench, interleaved, median, warmUp } from './report.js';
import { postStream, read } from './token-reader.js';

const STREAMS = 64;
const TOKENS = 150;
const EVERY_MS = 20;
const ROUNDS = 5;
/** Streams start one after another, like those of users. */
const BEGIN_EVERY_MS = 5;
/** The time for work that a turn leaves behind, which is part of its cost. */
const SETTLE_MS = 1_000;

/** The CPU time per stream, in milliseconds, when these processes share the streams. */
async function cpuPerStream(apis: readonly MeasuredService[]): Promise<number> {
  const used = async () =>
    (await Promise.all(apis.map((api) => api.usage()))).reduce((sum, { service }) => sum + service.cpuMs, 0);
  const before = await used();
  const streams: Promise<void>[] = [];
  for (let stream = 0; stream < STREAMS; stream++) {
    const { url } = apis[stream % apis.length]!;
    let tokens = 0;
    const reading = read(...postStream(url, `paced ${TOKENS} tokens ${EVERY_MS} ms`), { onToken: () => void tokens++ });
    const whole = reading.then(() => {
      if (tokens !== TOKENS) throw new Error(`${tokens} tokens came of ${TOKENS}.`);
    });
    streams.push(whole);
    await pause(BEGIN_EVERY_MS);
  }
  await Promise.all(streams);
  await pause(SETTLE_MS);
  return ((await used()) - before) / STREAMS;
}

/**
 * The cost of a second process that accepts requests: both have a share of the streams, and receive signals about the other's.
 */
export const bench: Bench = {
  name: 'scale-out',
  title: `${STREAMS} answers at once, ${1000 / EVERY_MS} tokens a second each, by one process and by two, with NATS`,
  async run(context) {
    const dataDir = await mkdtemp(join(tmpdir(), 'verbatim-bench-'));
    const postgres = await startEmbeddedPostgres({ dataDir });
    const nats = await NatsServer.start();
    const model = await startProgram('paced-model');
    const shared = { DATABASE_URL: postgres.url, NATS_URL: nats.url, OPENAI_BASE_URL: `${model.url}/v1` };
    const background = await startService(context, { ...shared, ROLES: 'worker,projector,scheduler' });
    const first = await startService(context, { ...shared, ROLES: 'api' });
    const second = await startService(context, { ...shared, ROLES: 'api' });
    const subjects = { one: () => cpuPerStream([first]), two: () => cpuPerStream([first, second]) };
    await warmUp(subjects);
    const { one, two } = await interleaved(ROUNDS, subjects);
    await Promise.all([first, second, background].map((service) => service.stop()));
    await Promise.all([model.stop(), nats.stop(), postgres.stop()]);
    await rm(dataDir, { recursive: true, force: true });
    const ratios = two.map((ms, round) => ms / one[round]!);
    return {
      figures: [
        {
          name: 'CPU per stream, two processes',
          value: median(two),
          unit: 'ms',
          baseline: { name: 'one process', value: median(one) },
        },
        { name: 'CPU per stream: times that of one process', value: median(ratios), unit: '×', target: { atMost: 1.1 } },
      ],
      notes: [
        `Medians of ${ROUNDS} rounds, in turns, of the processes that accept requests. Another one has all other roles. ${TOKENS} tokens each.`,
      ],
    };
  },
};
