import { describe } from '@jest/globals';
import { onEventStoreDbAndNats } from '../support/backing.js';
import { chatSchedulesStory } from './chat-schedules.story.js';
import { scheduleRunsStory } from './schedule-runs.story.js';
import { schedulesStory } from './schedules.story.js';
import { webhookRunsStory } from './webhook-runs.story.js';
import { webhooksStory } from './webhooks.story.js';

describe.each([
  ['webhooks', webhooksStory],
  ['runs of webhooks', webhookRunsStory],
  ['what chats want done later', chatSchedulesStory],
  ['schedules', schedulesStory],
  ['runs of schedules', scheduleRunsStory],
])('with EventStoreDB, Postgres and NATS: %s', (_, story) => story(onEventStoreDbAndNats));
