import { describe } from '@jest/globals';
import { onEventStoreDbAndNats } from '../support/backing.js';
import { storiesOn } from '../support/stories.js';
import { chatSchedulesStory } from './chat-schedules.story.js';
import { scheduleRunsStory } from './schedule-runs.story.js';
import { schedulesStory } from './schedules.story.js';
import { webhookRunsStory } from './webhook-runs.story.js';
import { webhooksStory } from './webhooks.story.js';

const stories = storiesOn({
  always: [
    ['webhooks', webhooksStory],
    ['runs of webhooks', webhookRunsStory],
    ['runs of schedules', scheduleRunsStory],
  ],
  onDemand: [
    ['tasks that chats schedule', chatSchedulesStory],
    ['schedules', schedulesStory],
  ],
});

describe.each(stories)('with EventStoreDB, Postgres and NATS: %s', (_, story) => story(onEventStoreDbAndNats));
