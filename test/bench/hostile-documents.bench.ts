import { setTimeout as pause } from 'node:timers/promises';
import { SessionTokens } from '../../src/resources/identity/session-tokens.js';
import type { DocumentFile } from '../../src/resources/documents/document.port.js';
import { Client } from '../support/client.js';
import { textFile } from '../support/document-files.js';
import { HOSTILE_FILES } from '../support/hostile-files.js';
import { startService } from './measured-service.js';
import { type Bench, median, quantile } from './report.js';

const SECRET = 'a secret for benches that is long enough';
/** Small enough for the short turn of a parser, whose queue such a file blocks longest. */
const HOSTILE_BYTES = 4 * 1024 * 1024;
/** The number of the hostile user's files that are waiting or being parsed at any time. */
const HOSTILE_FILES_OPEN = 12;
const QUIET_ROUNDS = 10;
const HOSTILE_MS = 45_000;
const POLL_MS = 10;
const PATIENCE_MS = 60_000;
const WAIT_MS_MAX = 5_000;

type Route = Readonly<{ name: string; path: string }>;

const ROUTES: readonly Route[] = [
  { name: 'attachment', path: '/api/store_attachment' },
  { name: 'source', path: '/api/upload' },
];

/** Uploads a file. Returns the id of its parsing task. */
async function upload(client: Client, { path }: Route, { filename, bytes }: DocumentFile): Promise<string> {
  const form = new FormData();
  form.append('name', filename);
  form.append('file', new Blob([bytes]), filename);
  const response = await client.send(path, form);
  if (response.status !== 200) throw new Error(`${path} answered ${response.status}: ${await response.text()}`);
  return ((await response.json()) as { task_id: string }).task_id;
}

async function statusOf(client: Client, taskId: string): Promise<string> {
  return (await client.json<{ status: string }>(`/api/task_status?task_id=${taskId}`)).status;
}

async function ended(client: Client, taskId: string, signal?: AbortSignal): Promise<string | undefined> {
  for (const until = performance.now() + PATIENCE_MS; !signal?.aborted; await pause(POLL_MS)) {
    const status = await statusOf(client, taskId);
    if (status === 'SUCCESS' || status === 'FAILURE') return status;
    if (!signal && performance.now() > until) throw new Error(`The task ${taskId} has not ended.`);
  }
  return undefined;
}

/** The time from the start of an upload until a small file is parsed. */
async function smallFileMs(client: Client, route: Route): Promise<number> {
  const since = performance.now();
  const taskId = await upload(client, route, textFile('small.txt', `What the miller knows. ${since}`));
  const status = await ended(client, taskId);
  if (status !== 'SUCCESS') throw new Error(`The small file ended with ${status}.`);
  return performance.now() - since;
}

/**
 * Keeps HOSTILE_FILES_OPEN hostile files in progress until the signal aborts. Resolves with the numbers of uploaded and parsed
 * files.
 */
async function attack(client: Client, route: Route, files: readonly DocumentFile[], signal: AbortSignal) {
  const count = { uploaded: 0, ended: 0 };
  const one = async (first: number): Promise<void> => {
    for (let next = first; !signal.aborted; next += HOSTILE_FILES_OPEN) {
      const taskId = await upload(client, route, files[next % files.length]!);
      count.uploaded++;
      if (await ended(client, taskId, signal)) count.ended++;
    }
  };
  await Promise.all(Array.from({ length: HOSTILE_FILES_OPEN }, (_, index) => one(index)));
  return count;
}

async function whileOpen<T>(work: (signal: AbortSignal) => Promise<T>, measure: () => Promise<void>): Promise<T> {
  const over = new AbortController();
  const working = work(over.signal);
  working.catch(() => undefined);
  try {
    await measure();
  } finally {
    over.abort();
  }
  return working;
}

/** How much one user's files delay those of another, which are parsed by the same processes. */
export const bench: Bench = {
  name: 'hostile-documents',
  title: `A small file beside ${HOSTILE_FILES_OPEN} hostile files of another user`,
  async run(context) {
    const hostile = HOSTILE_FILES.map(({ make }) => make(HOSTILE_BYTES));
    const service = await startService(context, { AUTH_TYPE: 'session_jwt', JWT_SECRET_KEY: SECRET, MODEL_IDS: 'offline' });
    const as = async (userId: string) =>
      new Client(service.url, {
        authorization: `Bearer ${await new SessionTokens(SECRET).issue({ subject: userId, roles: [] })}`,
      });
    const [alice, mallory] = await Promise.all([as('alice'), as('mallory')]);
    const figures = [];
    const notes = [`The hostile files have ${HOSTILE_BYTES} bytes (archives: unpacked) in ${hostile.length} shapes.`];
    for (const route of ROUTES) {
      const quiet: number[] = [];
      for (let round = 0; round < QUIET_ROUNDS; round++) quiet.push(await smallFileMs(alice, route));
      const waits: number[] = [];
      const count = await whileOpen(
        (signal) => attack(mallory, route, hostile, signal),
        async () => {
          for (const until = performance.now() + HOSTILE_MS; performance.now() < until;)
            waits.push(await smallFileMs(alice, route));
        },
      );
      const baseline = { name: 'alone', value: median(quiet) };
      figures.push(
        { name: `${route.name}, median`, value: median(waits), unit: 'ms', baseline },
        { name: `${route.name}, worst`, value: quantile(waits, 1), unit: 'ms', baseline, target: { atMost: WAIT_MS_MAX } },
      );
      notes.push(`${route.name}: ${waits.length} small files; ${count.ended} of ${count.uploaded} hostile ones ended meanwhile.`);
      context.say(`${notes.at(-1)!} Worst ${Math.round(quantile(waits, 1))} ms.`);
    }
    await service.stop();
    return { figures, notes };
  },
};
