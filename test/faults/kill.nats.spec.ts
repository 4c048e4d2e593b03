import { it } from '@jest/globals';
import { onEventStoreDbAndNats } from '../support/backing.js';
import { killStory } from './kill.story.js';

const seed = Number(process.env['TEST_SEED'] ?? Date.now() % 1_000_000);

it(`no client misses anything through 20 kills with EventStoreDB and NATS (seed ${seed})`, async () => {
  await killStory({ kills: 20, streams: 50, seed, restEvery: 10, aliveMsMax: 4_000 }, await onEventStoreDbAndNats());
}, 1_200_000);
