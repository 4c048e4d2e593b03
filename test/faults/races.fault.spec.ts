import { it } from '@jest/globals';
import { onEventStoreDb } from '../support/backing.js';
import { raceStory } from './races.story.js';

const seed = Number(process.env['TEST_SEED'] ?? Date.now() % 1_000_000);
const INVISIBLE_MS_MAX = 300;

it(`races have one outcome while accepted events are invisible for up to ${INVISIBLE_MS_MAX} ms (seed ${seed})`, async () => {
  const plan = { seed, processes: 1, streams: 100, keys: 60, deliveries: 30, approvals: 20, leaderLosses: 3, calmMs: 0 };
  await raceStory(plan, await onEventStoreDb({ invisibleMsMax: INVISIBLE_MS_MAX }));
}, 600_000);
