import { it } from '@jest/globals';
import { onEventStoreDbAndNats, onPostgresAndNats } from '../support/backing.js';
import { schedulesFaultStory } from './schedules.story.js';

const seed = Number(process.env['TEST_SEED'] ?? Date.now() % 1_000_000);

it.each([
  [3, 'Postgres and NATS', onPostgresAndNats],
  [2, 'EventStoreDB, Postgres and NATS', onEventStoreDbAndNats],
])(
  `two processes with different clocks that are killed decide each slot once over %i nights, with %s (seed ${seed})`,
  async (nights, _, makeBacking) => schedulesFaultStory(await makeBacking(), seed, nights),
  600_000,
);
