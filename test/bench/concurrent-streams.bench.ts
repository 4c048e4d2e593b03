import { setTimeout as pause } from 'node:timers/promises';
import { type Bench, type Figure, median, quantile } from './report.js';
import { startService } from './measured-service.js';
import { startProgram } from './program.js';
import { type Call, postCompletion, postStream, read } from './token-reader.js';
import { type Usage, usageOf } from './usage.js';

const STREAMS = 200;
const EVERY_MS = 20;
const TOKENS = 400;
/** A few streams first, until V8 has optimised the programs. The memory that they have then is the baseline. */
const FEW = 10;
const ROUNDS_OF_FEW = 3;
const ROUNDS = 2;
/** Streams start one after another, like those of users. */
const BEGIN_EVERY_MS = 5;

type Crowd = Readonly<{ lateMs: readonly number[]; seconds: number; cpuMs: readonly number[]; rssBytes: number }>;

/** Opens concurrent streams. Their memory is measured while all of them are open. */
async function crowd(one: (question: string) => [string, Call], size: number, usage: () => Promise<Usage[]>): Promise<Crowd> {
  const lateMs: number[] = [];
  const before = await usage();
  const begunAt = performance.now();
  const streams: Promise<void>[] = [];
  for (let stream = 0; stream < size; stream++) {
    const question = `paced ${TOKENS} tokens ${EVERY_MS} ms, please`;
    streams.push(read(...one(question), { onToken: (sentAt, cameAt) => void lateMs.push((cameAt - sentAt) / 1000) }));
    await pause(BEGIN_EVERY_MS);
  }
  await pause((TOKENS * EVERY_MS) / 2);
  const { rssBytes } = (await usage())[0]!;
  await Promise.all(streams);
  const seconds = (performance.now() - begunAt) / 1000;
  if (lateMs.length !== size * TOKENS) throw new Error(`${lateMs.length} tokens came instead of ${size * TOKENS}.`);
  const after = await usage();
  return { lateMs, seconds, cpuMs: after.map(({ cpuMs }, index) => cpuMs - before[index]!.cpuMs), rssBytes };
}

/** Two hundred concurrent answers: the delay of their tokens, and the cost of one stream. */
export const bench: Bench = {
  name: 'concurrent-streams',
  title: `${STREAMS} answers at once, ${1000 / EVERY_MS} tokens a second each`,
  async run(context) {
    const model = await startProgram('paced-model');
    const bare = await startProgram('bare-server', model.url);
    const service = await startService(context, { OPENAI_BASE_URL: `${model.url}/v1` });
    const subjects = {
      direct: { one: (question: string) => postCompletion(model.url, question), usage: async () => [await usageOf([model.pid])] },
      bare: { one: (question: string) => postStream(bare.url, question), usage: async () => [await usageOf([bare.pid])] },
      ours: {
        one: (question: string) => postStream(service.url, question),
        usage: async () => {
          const { service: own, postgres } = await service.usage();
          return [own, postgres];
        },
      },
    };
    const names = Object.keys(subjects) as (keyof typeof subjects)[];
    const crowds: Record<keyof typeof subjects, Crowd[]> = { direct: [], bare: [], ours: [] };
    const measured = (name: keyof typeof subjects, size: number) => crowd(subjects[name].one, size, subjects[name].usage);
    for (let round = 0; round < ROUNDS_OF_FEW; round++) for (const name of names) await measured(name, FEW);
    const rssOf = async (name: keyof typeof subjects) => (await subjects[name].usage())[0]!.rssBytes;
    const before = { bare: await rssOf('bare'), ours: await rssOf('ours') };
    for (const name of names) await measured(name, STREAMS);
    for (let round = 0; round < ROUNDS; round++) {
      for (const name of names) crowds[name].push(await measured(name, STREAMS));
    }
    await Promise.all([service.stop(), bare.stop(), model.stop()]);
    return { figures: figuresOf(crowds, before), notes: notesOf(crowds) };
  },
};

const late = (crowds: readonly Crowd[], share: number): number =>
  quantile(
    crowds.flatMap(({ lateMs }) => lateMs),
    share,
  );
const cpu = (crowds: readonly Crowd[], index = 0): number =>
  median(crowds.map(({ cpuMs, seconds }) => cpuMs[index]! / 10 / seconds / STREAMS));
/** The growth since the rounds of few streams. */
const rss = (crowds: readonly Crowd[], beforeBytes: number): number =>
  (Math.max(...crowds.map(({ rssBytes }) => rssBytes)) - beforeBytes) / STREAMS / 1024;

function figuresOf({ ours, bare }: Record<'ours' | 'bare', Crowd[]>, before: Record<'ours' | 'bare', number>): Figure[] {
  const against = (value: number) => ({ name: 'bare relay', value });
  return [
    {
      name: 'a token comes late by, median',
      value: late(ours, 0.5),
      unit: 'ms',
      baseline: against(late(bare, 0.5)),
      target: { atMost: 50 },
    },
    { name: 'p99', value: late(ours, 0.99), unit: 'ms', baseline: against(late(bare, 0.99)), target: { atMost: 130 } },
    { name: 'at most', value: late(ours, 1), unit: 'ms', baseline: against(late(bare, 1)) },
    { name: 'CPU of the service per stream', value: cpu(ours), unit: '%', baseline: against(cpu(bare)) },
    { name: 'CPU of Postgres per stream', value: cpu(ours, 1), unit: '%' },
    {
      name: 'RSS of the service per stream',
      value: rss(ours, before.ours),
      unit: 'KiB',
      baseline: against(rss(bare, before.bare)),
      target: { atMost: 150 },
    },
  ];
}

function notesOf({ ours, direct }: Record<'ours' | 'direct', Crowd[]>): string[] {
  const [first] = ours;
  return [
    `Directly from the model, tokens are late by ${late(direct, 0.5).toFixed(1)} ms, p99 ${late(direct, 0.99).toFixed(1)} ms. The rounds of the service had p99 ${ours.map((each) => late([each], 0.99).toFixed(0)).join(' and ')} ms.`,
    `${STREAMS * TOKENS} tokens within ${first!.seconds.toFixed(1)} s, started ${BEGIN_EVERY_MS} ms apart. Before them ${ROUNDS_OF_FEW} rounds of ${FEW} streams, after which the memory is measured, and one of ${STREAMS} were not counted. CPU is a percentage of one core. Service, Postgres, model and readers share the machine.`,
  ];
}
