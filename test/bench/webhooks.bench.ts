import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import postgres from 'postgres';
import { startService } from './measured-service.js';
import { startProgram } from './program.js';
import { type Bench, quantile } from './report.js';
import { read } from './token-reader.js';

const PER_SECOND = 50;
const SECONDS = 20;
const WARM_UP_SECONDS = 4;
const WORKERS = 8;
/** A run takes long enough that all workers are always busy. */
const RUN = 'paced 20 tokens 20 ms';
const AT_ONCE = 'paced 1 tokens 0 ms';

/** Sends requests at a fixed rate, whether or not earlier ones are answered. Returns the duration of each. */
async function paced(seconds: number, work: (number: number) => Promise<void>): Promise<number[]> {
  const tookMs: number[] = [];
  const begunAt = performance.now();
  const running: Promise<void>[] = [];
  for (let number = 0; number < seconds * PER_SECOND; number++) {
    await pause(Math.max(0, begunAt + (number * 1000) / PER_SECOND - performance.now()));
    const since = performance.now();
    running.push(work(number).then(() => void tookMs.push(performance.now() - since)));
  }
  await Promise.all(running);
  return tookMs;
}

async function asked<T>(url: string, body?: unknown): Promise<T> {
  const headers = { 'content-type': 'application/json' };
  const response = await fetch(url, body === undefined ? {} : { method: 'POST', headers, body: JSON.stringify(body) });
  if (!response.ok) throw new Error(`${url} answered ${response.status}: ${await response.text()}`);
  return (await response.json()) as T;
}

/** How long a sender waits for its task while all workers are busy. */
export const bench: Bench = {
  name: 'webhooks',
  title: `${PER_SECOND} deliveries a second, ${WORKERS} workers that are busy all the time`,
  async run(context) {
    const model = await startProgram('paced-model');
    const service = await startService(context, {
      OPENAI_BASE_URL: `${model.url}/v1`,
      WORKER_CONCURRENCY: String(WORKERS),
      TITLE_MODEL_ID: 'none',
    });
    const agent = { name: 'Hook', description: 'Hooked', chunks: 4, retriever: 'classic', prompt_id: 'default' };
    const { id } = await asked<{ id: string }>(`${service.url}/api/create_agent`, { ...agent, status: 'published' });
    const { webhook_url: hook } = await asked<{ webhook_url: string }>(`${service.url}/api/agent_webhook?id=${id}`);
    const url = service.url + new URL(hook).pathname;
    const delivered = (order: string) => (number: number) =>
      read(url, { method: 'POST', headers: { 'idempotency-key': randomUUID() }, body: { order, number } }, {});

    const sql = postgres(service.databaseUrl, { max: 10, onnotice: () => undefined });
    await sql`create table raw_delivery (id uuid primary key, body text not null)`;
    const inserted = async (number: number) => {
      await sql`insert into raw_delivery values (${randomUUID()}, ${JSON.stringify({ order: RUN, number })})`;
    };
    const both = async (order: string, seconds: number) => {
      const [ours, bare] = await Promise.all([paced(seconds, delivered(order)), paced(seconds, inserted)]);
      return { ours, bare };
    };

    await both(AT_ONCE, WARM_UP_SECONDS);
    const before = await service.usage();
    const { ours, bare } = await both(RUN, SECONDS);
    const after = await service.usage();
    const [row] = await sql<{ waiting: number }[]>`
      select count(*)::integer as waiting from tasks.task where status not in ('succeeded', 'failed')`;
    await sql.end();
    await Promise.all([service.stop(), model.stop()]);
    const figure = (name: string, share: number) => ({
      name,
      value: quantile(ours, share),
      unit: 'ms',
      baseline: { name: 'an INSERT beside it', value: quantile(bare, share) },
    });
    const cpu = (after.service.cpuMs - before.service.cpuMs) / 10 / SECONDS;
    return {
      figures: [
        figure('accepting, median', 0.5),
        { ...figure('accepting, p99', 0.99), target: { atMost: 100 } },
        figure('accepting, at most', 1),
      ],
      notes: [
        `${ours.length} deliveries with separate keys, each durable before its response; ${row!.waiting} runs waited at the end.`,
        `The service used ${cpu.toFixed(0)} % of a CPU meanwhile, for deliveries and runs.`,
      ],
    };
  },
};
