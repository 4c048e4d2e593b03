import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { type Backing, onPostgres } from '../support/backing.js';
import { Client } from '../support/client.js';
import { pdfFile } from '../support/document-files.js';
import { eventually } from '../support/eventually.js';
import { ServiceProcess } from '../support/process.js';

/** A parser takes two seconds of CPU time per file, and a busy machine has little. */
const ENDS_MS_MAX = 180_000;
const FILES = 6;
const PAGES = 12;

type Task = Readonly<{ task_id: string; attachment_id: string }>;

let dataDir: string;
let backing: Backing;
let service: ServiceProcess;
let client: Client;
beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'verbatim-attachments-'));
  backing = await onPostgres();
  const environment = { ...backing.environment, DATA_DIR: dataDir, SEED_DEMO: 'false', LOG_LEVEL: 'warn' };
  service = await ServiceProcess.start({ environment, standbys: 1 });
  client = new Client(service.url);
});
afterAll(async () => {
  await service.close();
  await backing.close();
  await rm(dataDir, { recursive: true, force: true });
});

async function upload(): Promise<readonly Task[]> {
  const form = new FormData();
  for (let file = 0; file < FILES; file++) {
    const pages = Array.from({ length: PAGES }, (_, page) => `Page ${page} of file ${file}`);
    form.append('file', new Blob([pdfFile('a.pdf', pages).bytes]), `${file}.pdf`);
  }
  const response = await client.send('/api/store_attachment', form);
  expect(response.status).toBe(200);
  return ((await response.json()) as { tasks: readonly Task[] }).tasks;
}

async function eventTypes(stream: string): Promise<readonly string[]> {
  const types: string[] = [];
  for await (const page of backing.store.read(stream)) types.push(...page.map(({ type }) => type));
  return types;
}

it.each([0, 300, 900])(
  'attachments are parsed once each, even if the service is killed %i ms after their upload',
  async (milliseconds) => {
    const tasks = await upload();
    expect(tasks).toHaveLength(FILES);
    await new Promise((resolve) => setTimeout(resolve, milliseconds));
    await service.kill();
    await service.start();
    for (const { task_id, attachment_id } of tasks) {
      const path = `/api/task_status?task_id=${task_id}`;
      const isDone = async () => (await client.json<{ status: string }>(path)).status === 'SUCCESS';
      await eventually(isDone, ENDS_MS_MAX, `${task_id} succeeds`);
      expect(await eventTypes(`attachment-${attachment_id}`)).toEqual(['AttachmentStored', 'AttachmentParsed']);
    }
    const attachments = tasks.map(({ attachment_id }) => attachment_id);
    const { frames } = await client.stream({ question: 'Which page is the last of file 3?', attachments });
    expect(frames.at(-1)!.data.type).toBe('end');
  },
  300_000,
);
