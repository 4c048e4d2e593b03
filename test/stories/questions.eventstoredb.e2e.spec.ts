import { describe } from '@jest/globals';
import { onEventStoreDb } from '../support/backing.js';
import { pausesStory } from './pauses.story.js';
import { questionsStory } from './questions.story.js';
import { userEventsStory } from './user-events.story.js';

describe.each([
  ['questions', questionsStory],
  ['pauses', pausesStory],
  ['user events', userEventsStory],
])('with EventStoreDB and Postgres: %s', (_, story) => story(onEventStoreDb));
