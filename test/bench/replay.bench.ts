import { createHash } from 'node:crypto';
import postgres from 'postgres';
import { type Bench, interleaved, median, quantile, ratioOf } from './report.js';
import { type MeasuredService, startService } from './measured-service.js';
import { startProgram } from './program.js';
import { postStream, read } from './token-reader.js';
import { usageOf } from './usage.js';

const TOKENS = 10_000;
/** The heap reaches its size within the first few dozen rounds. */
const WARM_UP_ROUNDS = 60;
const ROUNDS = 100;
/** The relative growth of memory that still counts as flat. */
const FLAT_SHARE = 0.05;

/** The stream that one reader receives, and the seconds it takes. */
async function replayed(url: string): Promise<{ seconds: number; text: string }> {
  const pieces: string[] = [];
  const begunAt = performance.now();
  await read(url, {}, { onText: (piece) => void pieces.push(piece) });
  return { seconds: (performance.now() - begunAt) / 1000, text: pieces.join('') };
}

const framesIn = (text: string): number => text.split('\nid: ').length;

/** The digest that a client computes: over the `id:` and `data:` lines, without comments and empty lines. */
function digestOf(text: string): string {
  const hash = createHash('sha256');
  for (const line of text.split('\n')) if (line.startsWith('id: ') || line.startsWith('data: ')) hash.update(`${line}\n`);
  return hash.digest('hex');
}

async function longMessage(service: MeasuredService): Promise<string> {
  let text = '';
  await read(...postStream(service.url, `alternating, paced ${TOKENS} tokens 0 ms`), { onText: (piece) => void (text += piece) });
  return /"message_id":"([^"]+)"/.exec(text)![1]!;
}

/** The speed at which one reader gets ten thousand frames from the log, and whether memory remains flat. */
export const bench: Bench = {
  name: 'replay',
  title: `Replay of an answer of ${TOKENS} tokens to one reader`,
  async run(context) {
    const model = await startProgram('paced-model');
    const bare = await startProgram('bare-server', model.url);
    const service = await startService(context, { OPENAI_BASE_URL: `${model.url}/v1` });
    const sql = postgres(service.databaseUrl, { max: 1 });
    const messageId = await longMessage(service);
    const events = `${service.url}/api/messages/${messageId}/events`;

    const frames = framesIn((await replayed(events)).text);
    const digest = (await (await fetch(`${service.url}/api/messages/${messageId}/digest`)).json()) as { sha256: string };
    if (digestOf((await replayed(events)).text) !== digest.sha256) throw new Error('The replay is not what was streamed.');

    const rss: number[] = [];
    const rate = (count: number, { seconds }: { seconds: number }): number => count / seconds;
    const subjects = {
      ours: async () => {
        const measured = rate(frames, await replayed(events));
        rss.push((await service.usage()).service.rssBytes / 2 ** 20);
        return measured;
      },
      bare: async () => rate(frames, await replayed(`${bare.url}/replay?${frames}`)),
      rows: async () => {
        const begunAt = performance.now();
        const rows = await sql`
          select e.revision, e.data from event_store.event e join event_store.stream s on s.number = e.stream
          where s.name = ${`message-${messageId}`} order by e.revision`;
        return rate(rows.length, { seconds: (performance.now() - begunAt) / 1000 });
      },
    };
    await interleaved(WARM_UP_ROUNDS, subjects);
    rss.length = 0;
    const cpuBefore = (await usageOf([bare.pid])).cpuMs;
    const before = await service.usage();
    const measured = await interleaved(ROUNDS, subjects);
    const after = await service.usage();
    const bareCpu = ((await usageOf([bare.pid])).cpuMs - cpuBefore) / ROUNDS;
    await sql.end();
    await Promise.all([service.stop(), bare.stop(), model.stop()]);
    return {
      figures: [
        {
          name: 'frames a second, median',
          value: median(measured.ours),
          unit: '/s',
          baseline: { name: 'bare server, from memory', value: median(measured.bare) },
          target: { atLeast: 50_000 },
        },
        {
          name: 'the same',
          value: median(measured.ours),
          unit: '/s',
          baseline: { name: 'one SELECT of the rows', value: median(measured.rows) },
        },
        {
          name: 'the same: times one SELECT of the rows',
          value: ratioOf(measured.ours, measured.rows),
          unit: '×',
          target: { atLeast: 0.25 },
        },
        { name: 'slowest twentieth', value: quantile(measured.ours, 0.05), unit: '/s' },
        {
          name: 'CPU of the service per replay',
          value: (after.service.cpuMs - before.service.cpuMs) / ROUNDS,
          unit: 'ms',
          baseline: { name: 'bare server', value: bareCpu },
        },
        { name: 'CPU of Postgres per replay', value: (after.postgres.cpuMs - before.postgres.cpuMs) / ROUNDS, unit: 'ms' },
        {
          name: `RSS after ${WARM_UP_ROUNDS + ROUNDS} replays`,
          value: rss.at(-1)!,
          unit: 'MiB',
          baseline: { name: `after ${WARM_UP_ROUNDS}`, value: rss[0]! },
          target: { atMost: Math.round(rss[0]! * (1 + FLAT_SHARE)) },
        },
      ],
      notes: [`${frames} frames, checked against the digest; highest RSS meanwhile ${Math.max(...rss).toFixed(0)} MiB.`],
    };
  },
};
