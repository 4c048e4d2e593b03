import { expect, it } from '@jest/globals';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onPostgres } from '../support/backing.js';
import { KillStory } from './kill.story.js';

const seed = Number(process.env['TEST_SEED'] ?? Date.now() % 1_000_000);
const kills = Number(process.env['TEST_KILLS'] ?? 200);

it(`no client misses anything through ${kills} kills at random moments with 50 streams in flight (seed ${seed})`, async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'verbatim-kill-'));
  const story = await KillStory.begin({ kills, streams: 50, seed, restEvery: 25, aliveMsMax: 2_500 }, onPostgres, dataDir);
  try {
    await story.run();
    await story.expectAnswersWhole();
    expect(story.viewers.length).toBeGreaterThan(50);
    console.log(story.summary);
  } finally {
    await story.close();
    await rm(dataDir, { recursive: true, force: true });
  }
}, 1_200_000);
