import { describe } from '@jest/globals';
import { onEventStoreDbAndNats } from '../support/backing.js';
import { approvalEventsStory } from './approval-events.story.js';
import { userBacklogStory } from './user-backlog.story.js';
import { userEventsStory } from './user-events.story.js';

describe.each([
  ['user events', userEventsStory],
  ['approval events', approvalEventsStory],
  ['the backlog of user events', userBacklogStory],
])('with EventStoreDB, Postgres and NATS: %s', (_, story) => story(onEventStoreDbAndNats));
