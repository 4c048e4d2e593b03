import { describe } from '@jest/globals';
import { onEventStoreDbAndNats } from '../support/backing.js';
import { storiesOn } from '../support/stories.js';
import { fuzzStory } from './fuzz.story.js';
import { idempotencyStory } from './idempotency.story.js';
import { readersStory } from './readers.story.js';
import { refusalsStory } from './refusals.story.js';
import { replayStory } from './replay.story.js';
import { stopStory } from './stop.story.js';

const stories = storiesOn({
  always: [
    ['replay', replayStory],
    ['stop', stopStory],
    ['readers', readersStory],
    ['idempotency', idempotencyStory],
  ],
  onDemand: [
    ['refusals', refusalsStory],
    ['fuzz', fuzzStory],
  ],
});

describe.each(stories)('with EventStoreDB, Postgres and NATS: %s', (_, story) => story(onEventStoreDbAndNats));
