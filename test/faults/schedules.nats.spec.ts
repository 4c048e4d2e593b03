import { it } from '@jest/globals';
import { onEventStoreDbAndNats, onPostgresAndNats } from '../support/backing.js';
import { schedulesFaultStory } from './schedules.story.js';

const seed = Number(process.env['TEST_SEED'] ?? Date.now() % 1_000_000);

it.each([
  [3, 'Postgres and NATS', onPostgresAndNats],
  [2, 'EventStoreDB, Postgres and NATS', onEventStoreDbAndNats],
])(
  `two processes whose clocks are apart, and which are killed, leave each slot one fate over %i nights, with %s (seed ${seed})`,
  async (nights, _, makeBacking) => schedulesFaultStory(await makeBacking(), seed, nights),
  600_000,
);
