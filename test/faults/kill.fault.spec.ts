import { it } from '@jest/globals';
import { onPostgres } from '../support/backing.js';
import { onEmbeddedPostgres } from '../support/embedded-backing.js';
import { killStory } from './kill.story.js';

const seed = Number(process.env['TEST_SEED'] ?? Date.now() % 1_000_000);
/** CI sets more. */
const kills = Number(process.env['TEST_KILLS'] ?? 25);

it(`no client misses anything through ${kills} kills at random moments with 50 streams in flight (seed ${seed})`, async () => {
  await killStory({ kills, streams: 50, seed, restEvery: 25, aliveMsMax: 2_500 }, await onPostgres());
}, 2_400_000);

it(`nor when the Postgres that is killed with the service is its own (seed ${seed})`, async () => {
  const embedded = await onEmbeddedPostgres();
  await killStory({ kills: 8, streams: 20, seed, restEvery: 4, aliveMsMax: 3_000 }, embedded, { DATA_DIR: embedded.dataDir });
}, 600_000);
