import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { type Backing, onPostgres } from '../support/backing.js';
import { Client } from '../support/client.js';
import { eventually } from '../support/eventually.js';
import { ServiceProcess } from '../support/process.js';

/** From the moment a killed service takes requests again, an ingestion goes on, or has ended with a reason, within this time. */
const TAKEN_UP_MS_MAX = 10_000;
const ENDS_MS_MAX = 60_000;

const PARAGRAPHS = 6_000;
const paragraph = (index: number) =>
  `Paragraph ${index} says that item number${index} costs ${index * 7} and is kept in hall ${index % 97}, beside many other things that are kept there.`;

type Status = Readonly<{ status: string; result: unknown }>;

let dataDir: string;
let backing: Backing;
let service: ServiceProcess;
let client: Client;
beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'verbatim-ingestion-'));
  backing = await onPostgres();
  service = await ServiceProcess.start({
    environment: { ...backing.environment, DATA_DIR: dataDir, SEED_DEMO: 'false', LOG_LEVEL: 'warn' },
    standbys: 1,
  });
  client = new Client(service.url);
}, 60_000);
afterAll(async () => {
  await service.close();
  await backing.close();
  await rm(dataDir, { recursive: true, force: true });
}, 60_000);

async function upload(name: string): Promise<{ task_id: string; source_id: string }> {
  const form = new FormData();
  form.append('name', name);
  for (const half of [0, 1]) {
    const lines = Array.from({ length: PARAGRAPHS / 2 }, (_, index) => paragraph(index * 2 + half));
    form.append('file', new Blob([lines.join('\n\n')]), `${half}.txt`);
  }
  const response = await fetch(`${service.url}/api/upload`, { method: 'POST', body: form });
  expect(response.status).toBe(200);
  return (await response.json()) as { task_id: string; source_id: string };
}

const statusOf = (taskId: string) => client.json<Status>(`/api/task_status?task_id=${taskId}`);

async function eventTypes(stream: string): Promise<readonly string[]> {
  const types: string[] = [];
  for await (const page of backing.store.read(stream)) types.push(...page.map(({ type }) => type));
  return types;
}

async function chunksOf(sourceId: string): Promise<readonly { text: string; metadata: { filename: string } }[]> {
  const all: { text: string; metadata: { filename: string } }[] = [];
  for (let page = 1; ; page++) {
    const { chunks } = await client.json<{ chunks: typeof all }>(`/api/get_chunks?id=${sourceId}&per_page=100&page=${page}`);
    if (chunks.length === 0) return all;
    all.push(...chunks);
  }
}

it.each([50, 900, 2_200])(
  'an ingestion killed %i ms after its upload goes on after the restart, and no chunk comes twice',
  async (afterMs) => {
    const { task_id, source_id } = await upload(`Killed after ${afterMs}`);
    await pause(afterMs);
    const startedBefore = (await eventTypes(`task-${task_id}`)).filter((type) => type === 'TaskStarted').length;
    await service.kill();
    await service.start();
    await eventually(async () => {
      const types = await eventTypes(`task-${task_id}`);
      return types.includes('TaskSucceeded') || types.filter((type) => type === 'TaskStarted').length > startedBefore;
    }, TAKEN_UP_MS_MAX);
    await eventually(async () => (await statusOf(task_id)).status === 'SUCCESS', ENDS_MS_MAX);
    const found = (await chunksOf(source_id)).flatMap(({ text }) => text.split('\n\n'));
    expect(found).toHaveLength(PARAGRAPHS);
    expect(new Set(found).size).toBe(PARAGRAPHS);
    expect((await eventTypes(`source-${source_id}`)).filter((type) => type === 'SourceIngestCompleted')).toHaveLength(1);
  },
  120_000,
);

it('a service that is stopped in an orderly way hands the task back, and its successor finishes it', async () => {
  const { task_id } = await upload('Stopped');
  await eventually(async () => (await eventTypes(`task-${task_id}`)).includes('TaskStarted'));
  await service.terminate();
  expect(await eventTypes(`task-${task_id}`)).toContain('TaskHandedBack');
  await service.start();
  await eventually(async () => (await statusOf(task_id)).status === 'SUCCESS', ENDS_MS_MAX);
  expect(await eventTypes(`task-${task_id}`)).not.toContain('TaskRetryScheduled');
}, 120_000);
