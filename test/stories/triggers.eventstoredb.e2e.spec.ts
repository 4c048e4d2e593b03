import { describe } from '@jest/globals';
import { onEventStoreDb } from '../support/backing.js';
import { scheduleRunsStory } from './schedule-runs.story.js';
import { webhooksStory } from './webhooks.story.js';

describe.each([
  ['webhooks', webhooksStory],
  ['runs of schedules', scheduleRunsStory],
])('with EventStoreDB and Postgres: %s', (_, story) => story(onEventStoreDb));
