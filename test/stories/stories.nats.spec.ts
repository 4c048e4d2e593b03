import { describe } from '@jest/globals';
import { onEventStoreDbAndNats } from '../support/backing.js';
import { replayStory } from './replay.story.js';

describe('with EventStoreDB, Postgres and NATS', () => {
  describe('replay', () => replayStory(onEventStoreDbAndNats));
});
