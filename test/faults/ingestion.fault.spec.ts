import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { onPostgres } from '../support/backing.js';
import { eventually } from '../support/eventually.js';
import { IngestionStory, killedAfter } from './ingestion.story.js';

let dataDir: string;
let story: IngestionStory;
beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'verbatim-ingestion-'));
  story = await IngestionStory.begin(onPostgres, dataDir);
}, 60_000);
afterAll(async () => {
  await story.close();
  await rm(dataDir, { recursive: true, force: true });
}, 60_000);

it.each([50, 900, 2_200])(
  'an ingestion killed %i ms after its upload goes on after the restart, and no chunk comes twice',
  (milliseconds) => killedAfter(story, milliseconds),
  120_000,
);

it('a service that is stopped in an orderly way hands the task back, and its successor finishes it', async () => {
  const uploaded = await story.upload('Stopped');
  const task = `task-${uploaded.task_id}`;
  await eventually(async () => (await story.eventTypes(task)).includes('TaskStarted'));
  await story.service.terminate();
  expect(await story.eventTypes(task)).toContain('TaskHandedBack');
  await story.service.start();
  await story.expectSuccess(uploaded);
  expect(await story.eventTypes(task)).not.toContain('TaskRetryScheduled');
}, 120_000);
