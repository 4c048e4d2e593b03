import { setTimeout as pause } from 'node:timers/promises';
import postgres, { type Sql } from 'postgres';
import { type MeasuredService, startService } from './measured-service.js';
import { startProgram } from './program.js';
import type { Traffic } from './programs/postgres-traffic.js';
import { type Bench, type BenchContext, type Figure, interleaved, median, warmUp, WARM_UP_SECONDS } from './report.js';
import { postStream, read } from './token-reader.js';
import { usageOf } from './usage.js';

const AT_ONCE = 16;
const TOKENS = 20;
/** Fast enough that the model is not the limit, but still one token at a time. */
const QUESTION = `paced ${TOKENS} tokens 1 ms`;
const ROUNDS = 5;
const SECONDS = 4;
const COUNTED_SECONDS = 8;
/** The time for work that a turn leaves behind, such as read models, which is part of its cost. */
const SETTLE_MS = 1_000;
const TEXTS_SHOWN = 16;

/** AT_ONCE users ask one question after another. Returns the number of complete answers. */
async function turns(url: string, seconds: number): Promise<{ count: number; perSecond: number }> {
  const since = performance.now();
  const until = since + seconds * 1000;
  let count = 0;
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      for (; performance.now() < until; count++) {
        let tokens = 0;
        await read(...postStream(url, QUESTION), { onToken: () => void tokens++ });
        if (tokens !== TOKENS) throw new Error(`${tokens} tokens came of ${TOKENS}.`);
      }
    }),
  );
  return { count, perSecond: (count * 1000) / (performance.now() - since) };
}

const walBytes = async (sql: Sql): Promise<number> =>
  Number((await sql<{ bytes: string }[]>`select pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0') as bytes`)[0]!.bytes);

type Counted = Readonly<{ perTurn: (count: number) => number; traffic: Traffic; wal: number }>;

/** The traffic and the writes of turns in Postgres, in a separate process, because counting costs speed. */
async function counted(context: BenchContext, environment: Readonly<Record<string, string>>): Promise<Counted> {
  const service = await startService(context, environment, { counted: true });
  const sql = postgres(service.databaseUrl, { max: 1 });
  await turns(service.url, SECONDS);
  await pause(SETTLE_MS);
  const [before, walBefore] = [await service.traffic(), await walBytes(sql)];
  const { count } = await turns(service.url, COUNTED_SECONDS);
  await pause(SETTLE_MS);
  const [after, walAfter] = [await service.traffic(), await walBytes(sql)];
  await sql.end();
  await service.stop();
  const texts = Object.fromEntries(Object.entries(after.texts).map(([text, sent]) => [text, sent - (before.texts[text] ?? 0)]));
  return {
    perTurn: (each) => each / count,
    traffic: { statements: after.statements - before.statements, writes: after.writes - before.writes, texts },
    wal: walAfter - walBefore,
  };
}

/** CPU time per turn of each process over rounds, in milliseconds by name, with the number of turns. */
class CpuPerTurn {
  private ms: Record<string, number> = {};
  private count = 0;

  constructor(private readonly used: () => Promise<Record<string, number>>) {}

  /** Measures one round. */
  async round(url: string): Promise<number> {
    const before = await this.used();
    const { count, perSecond } = await turns(url, SECONDS);
    await pause(SETTLE_MS);
    for (const [name, ms] of Object.entries(await this.used())) this.ms[name] = (this.ms[name] ?? 0) + ms - before[name]!;
    this.count += count;
    return perSecond;
  }

  of(name: string): number {
    return this.ms[name]! / this.count;
  }
}

const cpuOf = (service: MeasuredService) => async () => {
  const { service: node, postgres: database } = await service.usage();
  return { node: node.cpuMs, database: database.cpuMs };
};

/** The cost of a turn when many are asked concurrently: answers per second, and the resources that each uses. */
export const bench: Bench = {
  name: 'turns',
  title: `Turns of ${TOKENS} tokens, ${AT_ONCE} at a time`,
  async run(context) {
    const model = await startProgram('paced-model');
    const environment = { OPENAI_BASE_URL: `${model.url}/v1` };
    const relay = await startProgram('relay', model.url);
    const service = await startService(context, environment);
    const cpu = {
      ours: new CpuPerTurn(cpuOf(service)),
      relay: new CpuPerTurn(async () => ({ node: (await usageOf([relay.pid])).cpuMs })),
    };
    const perSecond = (url: string) => async () => (await turns(url, SECONDS)).perSecond;
    await warmUp({ ours: perSecond(service.url), relay: perSecond(relay.url) });
    const measured = await interleaved(ROUNDS, {
      ours: () => cpu.ours.round(service.url),
      relay: () => cpu.relay.round(relay.url),
    });
    await Promise.all([service.stop(), relay.stop()]);
    context.say('counting statements');
    const { perTurn, traffic, wal } = await counted(context, environment);
    await model.stop();
    const [ours, theirs] = [median(measured.ours), median(measured.relay)];
    const figures: Figure[] = [
      { name: 'turns', value: ours, unit: '/s', baseline: { name: 'relay', value: theirs } },
      { name: 'turns: times those of the relay', value: ours / theirs, unit: '×', target: { atLeast: 0.35 } },
      { name: 'SQL statements per turn', value: perTurn(traffic.statements), unit: '', target: { atMost: 8 } },
      { name: 'socket writes to Postgres per turn', value: perTurn(traffic.writes), unit: '', target: { atMost: 4 } },
      { name: 'bytes of WAL per turn', value: perTurn(wal), unit: 'B' },
      {
        name: 'CPU of Node per turn',
        value: cpu.ours.of('node'),
        unit: 'ms',
        baseline: { name: 'relay', value: cpu.relay.of('node') },
        target: { atMost: 4 },
      },
      { name: 'CPU of Postgres per turn', value: cpu.ours.of('database'), unit: 'ms', target: { atMost: 2 } },
      {
        name: 'CPU of both per turn',
        value: cpu.ours.of('node') + cpu.ours.of('database'),
        unit: 'ms',
        baseline: { name: 'relay', value: cpu.relay.of('node') },
      },
    ];
    return { figures, notes: notesOf(traffic, perTurn) };
  },
};

const notesOf = ({ texts }: Traffic, perTurn: Counted['perTurn']): string[] => [
  `Medians of ${ROUNDS} rounds of ${SECONDS} s, in turns, after ${WARM_UP_SECONDS} s of the same load. CPU over all of them, with ${SETTLE_MS} ms for work that a turn leaves behind. Statements, writes and WAL are from another process, because counting costs speed. They include those of read models.`,
  'Sent most often, per turn:',
  ...Object.entries(texts)
    .sort(([, a], [, b]) => b - a)
    .slice(0, TEXTS_SHOWN)
    .map(([text, sent]) => `${perTurn(sent).toFixed(2)}  ${text.replaceAll(/\s+/g, ' ').trim().slice(0, 100)}`),
];
