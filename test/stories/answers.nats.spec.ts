import { describe } from '@jest/globals';
import { onEventStoreDbAndNats } from '../support/backing.js';
import { fuzzStory } from './fuzz.story.js';
import { idempotencyStory } from './idempotency.story.js';
import { readersStory } from './readers.story.js';
import { refusalsStory } from './refusals.story.js';
import { replayStory } from './replay.story.js';
import { stopStory } from './stop.story.js';

describe.each([
  ['replay', replayStory],
  ['stop', stopStory],
  ['refusals', refusalsStory],
  ['readers', readersStory],
  ['idempotency', idempotencyStory],
  ['fuzz', fuzzStory],
])('with EventStoreDB, Postgres and NATS: %s', (_, story) => story(onEventStoreDbAndNats));
