import { describe } from '@jest/globals';
import { onEventStoreDb } from '../support/backing.js';
import { idempotencyStory } from './idempotency.story.js';
import { replayStory } from './replay.story.js';
import { stopStory } from './stop.story.js';

describe.each([
  ['replay', replayStory],
  ['stop', stopStory],
  ['idempotency', idempotencyStory],
])('with EventStoreDB and Postgres: %s', (_, story) => story(onEventStoreDb));
