import { describe } from '@jest/globals';
import { scavenge } from '../../src/platform/event-store/postgres/scavenge.js';
import { onEventStoreDb, onPostgres } from '../support/backing.js';
import { deletedConversationsStory } from './deleted-conversations.story.js';

describe('on Postgres', () => {
  deletedConversationsStory(onPostgres, {
    scavenge: async ({ database }) => {
      while ((await scavenge(async (run) => run(database.sql))).more);
    },
    streamsWith: async ({ database }, text) => {
      const streams = await database.sql<{ name: string }[]>`
        select distinct name from event_store.event join event_store.stream on number = event.stream where data like ${`%${text}%`}`;
      return streams.map(({ name }) => name);
    },
  });
});

describe('on EventStoreDB and Postgres', () => {
  deletedConversationsStory(onEventStoreDb, {
    scavenge: ({ eventStoreDb }) => eventStoreDb.scavenge(),
    // Everything that it stores can be read with the log.
    streamsWith: async () => [],
  });
});
