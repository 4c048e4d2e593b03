import { it } from '@jest/globals';
import { onEventStoreDbAndNats } from '../support/backing.js';
import { raceStory } from './races.story.js';

const seed = Number(process.env['TEST_SEED'] ?? Date.now() % 1_000_000);
/** 1 is for every day; 10 is what three real servers were held to. */
const scale = Number(process.env['TEST_RACES'] ?? 1);

it(`what may come about once does, asked for of two processes (seed ${seed})`, async () => {
  const counts = { streams: 50 * scale, keys: 50 * scale, deliveries: 20 * scale, approvals: 20 * scale };
  const plan = { seed, processes: 2, ...counts, leaderLosses: Math.max(3, scale), calmMs: scale < 10 ? 0 : 10_000 };
  await raceStory(plan, await onEventStoreDbAndNats());
}, 3_600_000);
