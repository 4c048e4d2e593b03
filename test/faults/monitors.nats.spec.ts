import { it } from '@jest/globals';
import { onEventStoreDbAndNats, onPostgresAndNats } from '../support/backing.js';
import { monitorsFaultStory } from './monitors.story.js';

const seed = Number(process.env['TEST_SEED'] ?? Date.now() % 1_000_000);

it.each([
  ['Postgres and NATS', onPostgresAndNats],
  ['EventStoreDB, Postgres and NATS', onEventStoreDbAndNats],
])(
  `two processes with different clocks that are killed report each finding of a monitor once, with %s (seed ${seed})`,
  async (_, makeBacking) => monitorsFaultStory(await makeBacking(), seed),
  600_000,
);
