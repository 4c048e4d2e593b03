import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { onPostgres } from '../support/backing.js';
import { eventually } from '../support/eventually.js';
import { LocalServer } from '../support/local-server.js';
import { IngestionStory, killedAfter, killedDuringSync } from './ingestion.story.js';

/** How often the test tries to stop the service before its task has succeeded. */
const ATTEMPTS_MAX = 3;

let dataDir: string;
let site: LocalServer;
let story: IngestionStory;
beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'verbatim-ingestion-'));
  site = await LocalServer.started();
  story = await IngestionStory.begin(onPostgres, dataDir, { ALLOWED_PRIVATE_HOSTS: '127.0.0.1' });
});
afterAll(async () => {
  await story.close();
  await site.close();
  await rm(dataDir, { recursive: true, force: true });
});

it.each([50, 900, 2_200])(
  'an ingestion that is killed %i ms after its upload continues after the restart, without duplicate chunks',
  (milliseconds) => killedAfter(story, milliseconds),
  300_000,
);

it.each([300, 1_500])(
  'a sync that is killed after %i ms continues after the restart, and searches find the old pages until it is complete',
  (milliseconds) => killedDuringSync(story, site, milliseconds),
  300_000,
);

it('a service that shuts down cleanly hands the task back, and its successor finishes it', async () => {
  for (let attempt = 1; ; attempt++) {
    const uploaded = await story.upload(`Stopped ${attempt}`);
    const types = () => story.eventTypes(`task-${uploaded.task_id}`);
    await eventually(async () => (await types()).includes('TaskStarted'));
    await story.service.terminate();
    const atStop = await types();
    await story.service.start();
    await story.expectSuccess(uploaded);
    expect(await types()).not.toContain('TaskRetryScheduled');
    // A test process that stalls for seconds stops the service too late, when the task has succeeded.
    if (atStop.includes('TaskSucceeded') && attempt < ATTEMPTS_MAX) continue;
    expect(atStop).toContain('TaskRequeued');
    return;
  }
});
