import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, it } from '@jest/globals';
import { onEventStoreDbAndNats } from '../support/backing.js';
import { IngestionStory, killedAfter } from './ingestion.story.js';

let dataDir: string;
let story: IngestionStory;
beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'verbatim-ingestion-'));
  story = await IngestionStory.begin(onEventStoreDbAndNats, dataDir);
});
afterAll(async () => {
  await story.close();
  await rm(dataDir, { recursive: true, force: true });
});

it.each([100, 1_200])(
  'an ingestion that is killed %i ms after its upload continues after the restart, without duplicate chunks',
  (milliseconds) => killedAfter(story, milliseconds),
  300_000,
);
