import { it } from '@jest/globals';
import { onPostgres } from '../support/backing.js';
import { onEmbeddedPostgres } from '../support/embedded-backing.js';
import { KILLS } from '../support/kills.js';
import { killStory } from './kill.story.js';

const seed = Number(process.env['TEST_SEED'] ?? Date.now() % 1_000_000);

it(`no client misses anything through ${KILLS} kills at random moments with 50 streams in flight (seed ${seed})`, async () => {
  await killStory({ kills: KILLS, streams: 50, seed, restEvery: Math.min(25, KILLS), aliveMsMax: 2_500 }, await onPostgres());
}, 2_400_000);

it(`no client misses anything when the embedded Postgres is killed with the service (seed ${seed})`, async () => {
  const embedded = await onEmbeddedPostgres();
  await killStory({ kills: 6, streams: 20, seed, restEvery: 3, aliveMsMax: 3_000 }, embedded, { DATA_DIR: embedded.dataDir });
}, 600_000);
