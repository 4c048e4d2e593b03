import { it } from '@jest/globals';
import { onEventStoreDbAndNats } from '../support/backing.js';
import { KILLS } from '../support/kills.js';
import { killStory } from './kill.story.js';

const seed = Number(process.env['TEST_SEED'] ?? Date.now() % 1_000_000);
/** A kill takes about twice as long as on Postgres. */
const kills = Math.ceil(KILLS / 2);

it(`no client misses anything through ${kills} kills with EventStoreDB and NATS (seed ${seed})`, async () => {
  await killStory({ kills, streams: 50, seed, restEvery: Math.min(10, kills), aliveMsMax: 4_000 }, await onEventStoreDbAndNats());
}, 1_200_000);
