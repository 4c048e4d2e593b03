import { it } from '@jest/globals';
import { onEventStoreDbAndNats } from '../support/backing.js';
import { raceStory } from './races.story.js';

const seed = Number(process.env['TEST_SEED'] ?? Date.now() % 1_000_000);
/** 1 for every day. 10 is what three real servers were tested with. */
const scale = Number(process.env['TEST_RACES'] ?? 1);

it(`races between two processes have one outcome (seed ${seed})`, async () => {
  const counts = { streams: 50 * scale, keys: 50 * scale, deliveries: 20 * scale, approvals: 20 * scale };
  const plan = { seed, processes: 2, ...counts, leaderLosses: Math.max(3, scale), calmMs: scale < 10 ? 0 : 10_000 };
  await raceStory(plan, await onEventStoreDbAndNats());
}, 3_600_000);
