import { describe } from '@jest/globals';
import { onEventStoreDb } from '../support/backing.js';
import { idempotencyStory } from './idempotency.story.js';
import { pausesStory } from './pauses.story.js';
import { questionsStory } from './questions.story.js';
import { replayStory } from './replay.story.js';
import { scheduleRunsStory } from './schedule-runs.story.js';
import { stopStory } from './stop.story.js';
import { userEventsStory } from './user-events.story.js';
import { webhooksStory } from './webhooks.story.js';

describe.each([
  ['replay', replayStory],
  ['questions', questionsStory],
  ['idempotency', idempotencyStory],
  ['pauses', pausesStory],
  ['stop', stopStory],
  ['user events', userEventsStory],
  ['webhooks', webhooksStory],
  ['runs of schedules', scheduleRunsStory],
])('with EventStoreDB and Postgres: %s', (_, story) => story(onEventStoreDb));
