import { describe } from '@jest/globals';
import { onEventStoreDb } from '../support/backing.js';
import { storiesOn } from '../support/stories.js';
import { idempotencyStory } from './idempotency.story.js';
import { parallelQuestionsStory } from './parallel-questions.story.js';
import { pausesStory } from './pauses.story.js';
import { questionsStory } from './questions.story.js';
import { replayStory } from './replay.story.js';
import { scheduleRunsStory } from './schedule-runs.story.js';
import { stopStory } from './stop.story.js';
import { userEventsStory } from './user-events.story.js';
import { webhooksStory } from './webhooks.story.js';

const stories = storiesOn({
  always: [
    ['replay', replayStory],
    ['idempotency', idempotencyStory],
  ],
  onDemand: [
    ['stop', stopStory],
    ['at the same moment', parallelQuestionsStory],
    ['questions', questionsStory],
    ['pauses', pausesStory],
    ['user events', userEventsStory],
    ['webhooks', webhooksStory],
    ['runs of schedules', scheduleRunsStory],
  ],
});

describe.each(stories)('with EventStoreDB and Postgres: %s', (_, story) => story(onEventStoreDb));
