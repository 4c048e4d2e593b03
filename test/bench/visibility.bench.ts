import { setTimeout as pause } from 'node:timers/promises';
import postgres from 'postgres';
import { type Bench, median, quantile, WARM_UP_SECONDS } from './report.js';
import { type MeasuredService, startService } from './measured-service.js';
import { type Program, startProgram } from './program.js';
import { postCompletion, postStream, read } from './token-reader.js';

const ROUNDS = 3;
const SECONDS = 5;
const EVENTS_PER_SECOND = 200;

/** The delays of tokens for a second reader of each of several concurrent answers. */
async function secondReaders(service: MeasuredService, answers: number, seconds: number): Promise<number[]> {
  const everyMs = (answers * 1000) / EVENTS_PER_SECOND;
  const lateMs: number[] = [];
  const question = `paced ${(seconds * 1000) / everyMs} tokens ${everyMs} ms`;
  await Promise.all(
    Array.from({ length: answers }, async (_, answer) => {
      await pause((answer * everyMs) / answers);
      let other: Promise<void> | undefined;
      const follow = (piece: string): undefined => {
        const id = /"message_id":"([^"]+)"/.exec(piece)?.[1];
        if (!id) return;
        // Frames from before the second reader connected are replayed, and say nothing about the delay of new ones.
        const from = process.hrtime.bigint() / 1000n + 200_000n;
        other ??= read(
          `${service.url}/api/messages/${id}/events`,
          {},
          { onToken: (sentAt, cameAt) => sentAt > from && lateMs.push((cameAt - sentAt) / 1000) },
        );
      };
      await read(...postStream(service.url, question), { onText: follow });
      await other;
    }),
  );
  return lateMs;
}

async function straightFrom(model: Program): Promise<number[]> {
  const lateMs: number[] = [];
  const every = 1000 / EVENTS_PER_SECOND;
  const question = `paced ${SECONDS * EVENTS_PER_SECOND} tokens ${every} ms`;
  await read(...postCompletion(model.url, question), { onToken: (sentAt, cameAt) => void lateMs.push((cameAt - sentAt) / 1000) });
  return lateMs;
}

/** The cost of durability alone on this disk: one committed row, at the same pace. */
async function inserts(databaseUrl: string): Promise<number[]> {
  const sql = postgres(databaseUrl, { max: 2, onnotice: () => undefined });
  await sql`create table if not exists public.raw_insert (id bigserial primary key, data text not null)`;
  const tookMs: number[] = [];
  const begunAt = performance.now();
  const running: Promise<unknown>[] = [];
  for (let index = 0; index < SECONDS * EVENTS_PER_SECOND; index++) {
    await pause(Math.max(0, begunAt + (index * 1000) / EVENTS_PER_SECOND - performance.now()));
    const at = performance.now();
    const row = sql`insert into public.raw_insert (data) values (${'x'.repeat(60)})`;
    running.push(row.then(() => tookMs.push(performance.now() - at)));
  }
  await Promise.all(running);
  await sql.end();
  return tookMs;
}

/** The way of a token to a reader who did not ask: model, journal with fsync, signal, second reader. */
export const bench: Bench = {
  name: 'visibility',
  title: `From an append to another reader, at ${EVENTS_PER_SECOND} events a second`,
  async run(context) {
    const model = await startProgram('paced-model');
    const service = await startService(context, { OPENAI_BASE_URL: `${model.url}/v1` });
    await secondReaders(service, 10, WARM_UP_SECONDS / 2);
    await inserts(service.databaseUrl);
    const spread: number[] = [];
    const alone: number[] = [];
    const direct: number[] = [];
    const raw: number[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      spread.push(...(await secondReaders(service, 10, SECONDS)));
      raw.push(...(await inserts(service.databaseUrl)));
      alone.push(...(await secondReaders(service, 1, SECONDS)));
      direct.push(...(await straightFrom(model)));
    }
    await Promise.all([service.stop(), model.stop()]);
    const figure = (name: string, late: number[], share: number, atMost: number) => ({
      name,
      value: quantile(late, share),
      unit: 'ms',
      baseline: { name: 'raw INSERT … COMMIT', value: quantile(raw, share) },
      target: { atMost },
    });
    // The way of a token into the service is not part of its append.
    const inCommits = (name: string, late: number[]) => ({
      name: `${name}, p50, in raw commits`,
      value: (median(late) - median(direct)) / median(raw),
      unit: '×',
      target: { atMost: 1.8 },
    });
    return {
      figures: [
        figure('ten answers, p50', spread, 0.5, 5),
        figure('ten answers, p99', spread, 0.99, 20),
        figure('one answer, p50', alone, 0.5, 5),
        figure('one answer, p99', alone, 0.99, 20),
        inCommits('ten answers', spread),
        inCommits('one answer', alone),
      ],
      notes: [
        `Measured from when the model sends a token, so the way into the service counts too. Directly from the model to a reader it takes ${median(direct).toFixed(2)} ms, p99 ${quantile(direct, 0.99).toFixed(2)} ms.`,
        'Tokens of one answer that arrive within 5 ms of each other share an append.',
      ],
    };
  },
};
