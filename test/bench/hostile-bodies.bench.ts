import { connect } from 'node:net';
import { startService } from './measured-service.js';
import { type Bench, median, quantile } from './report.js';

const MiB = 1024 * 1024;
const BYTES = 10 * MiB - 1024;
const WARM_UP_ROUNDS = 3;
const ROUNDS = 9;
const LOOP_MS_MAX = 50;

const filled = (start: string, piece: string, end: string): string =>
  start + piece.repeat(Math.floor((BYTES - start.length - end.length) / Buffer.byteLength(piece))) + end;
const numbered = (start: string, entry: (number: number) => string, end: string): string => {
  const entries: string[] = [];
  for (let number = 0, bytes = 0; bytes < BYTES - 64; number++)
    bytes += entries.push(entry(number)) && entries.at(-1)!.length + 1;
  return start + entries.join() + end;
};

/** Bodies of 10 MB, each designed to be as costly as possible in one way. */
const shapes: Readonly<Record<string, () => string>> = {
  'fields at the top': () => numbered('{', (number) => `"k${number}":1`, '}'),
  'fields in passthrough': () => numbered('{"question":"x","passthrough":{', (number) => `"k${number}":1`, '}}'),
  'the same field': () => filled('{"question":"x"', ',"a":1', '}'),
  prototypes: () => filled('{"question":"x"', ',"__proto__":{}', '}'),
  'elements of an array': () => filled('{"client_tools":[0', ',0', ']}'),
  'objects in an array': () => filled('{"tool_actions":[{}', ',{}', ']}'),
  'arrays in arrays': () => filled('{"passthrough":', '[', ''),
  'objects 90 levels deep': () => filled('{"passthrough":[0', `,${'{"a":'.repeat(90)}1${'}'.repeat(90)}`, ']}'),
  'long keys': () => numbered('{', (number) => `"${'k'.repeat(16_380)}${1_000 + number}":1`, '}'),
  'as many fields as allowed, and a text': () =>
    filled(`{${Array.from({ length: 19_000 }, (_, number) => `"k${number}":1,`).join('')}"question":"`, 'x', '"}'),
  'a text': () => filled('{"question":"', 'x', '"}'),
  'a text of escapes': () => filled('{"question":"', String.raw`\n`, '"}'),
  'a text of escaped Chinese': () => filled('{"question":"', String.raw`\u4e2d`, '"}'),
  'a text of Chinese': () => filled('{"question":"', '中', '"}'),
  'a text of emoji': () => filled('{"question":"', '😀', '"}'),
  'JSON in a text': () => filled('{"question":"x","history":"[{}', ',{}', ']"}'),
  'a number': () => filled('{"chunks":', '1', '}'),
  blanks: () => filled('{"question":7', ' ', '}'),
  quotes: () => filled('{"question":', '""', '}'),
  'what is no JSON': () => filled('{"question":"', 'x', ''),
};

type Sample = Readonly<{ cpuMs: number; loopMs: number }>;

/** The CPU time of the process, and the longest pause of its event loop since the last call. */
async function scrape(url: string): Promise<Sample> {
  const text = await (await fetch(`${url}/metrics`)).text();
  const value = (name: string) => 1000 * Number(new RegExp(`^${name} (\\S+)`, 'm').exec(text)![1]);
  return { cpuMs: value('process_cpu_seconds_total'), loopMs: value('nodejs_eventloop_lag_max_seconds') };
}

/** Sends a body until the server responds, which may be before its end. Resolves with the status. */
function send(url: string, body: Buffer): Promise<number> {
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(url);
    const socket = connect(Number(port), hostname);
    let answer = '';
    socket.on('error', reject).on('close', () => reject(new Error('The service did not answer.')));
    socket.on('data', (piece) => {
      answer += piece.toString();
      const [, status] = /^HTTP\/1\.1 (\d+) /.exec(answer) ?? [];
      if (status === undefined || !answer.includes('\r\n\r\n')) return;
      resolve(Number(status));
      socket.destroy();
    });
    socket.write(
      `POST /stream HTTP/1.1\r\nHost: ${hostname}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n`,
    );
    socket.write(body);
  });
}

/** How long one request can occupy the event loop, which all others share. */
export const bench: Bench = {
  name: 'hostile-bodies',
  title: 'Hostile bodies of 10 MB: CPU time of the whole process for each',
  async run(context) {
    const service = await startService(context, { MODEL_IDS: 'offline' });
    const used = async (body: Buffer | undefined) => {
      const before = await scrape(service.url);
      const status = body && (await send(service.url, body));
      const after = await scrape(service.url);
      return { status, cpuMs: after.cpuMs - before.cpuMs, loopMs: after.loopMs };
    };
    for (let round = 0; round < 10 * WARM_UP_ROUNDS; round++) await used(undefined);
    const idle = await Promise.all(
      Array.from({ length: 1 }, async () => {
        const samples = [];
        for (let round = 0; round < 2 * ROUNDS; round++) samples.push(await used(undefined));
        return samples;
      }),
    );
    const idleMs = median(idle[0]!.map(({ cpuMs }) => cpuMs));
    const figures = [];
    const notes = [`Two scrapes use ${idleMs.toFixed(1)} ms, which are subtracted.`];
    for (const [name, make] of Object.entries(shapes)) {
      const body = Buffer.from(make());
      for (let round = 0; round < WARM_UP_ROUNDS; round++) await used(body);
      const samples = [];
      for (let round = 0; round < ROUNDS; round++) samples.push(await used(body));
      const cpuMs = samples.map((sample) => Math.max(0, sample.cpuMs - idleMs));
      figures.push({ name, value: median(cpuMs), unit: 'ms', target: { atMost: LOOP_MS_MAX } });
      const loopMs = median(samples.map((sample) => sample.loopMs));
      notes.push(
        `${name}: ${samples[0]!.status}, ${quantile(cpuMs, 0).toFixed(1)} to ${quantile(cpuMs, 1).toFixed(1)} ms; the longest pause of the event loop was ${loopMs.toFixed(1)} ms.`,
      );
      context.say(notes.at(-1)!);
    }
    await service.stop();
    return { figures, notes };
  },
};
