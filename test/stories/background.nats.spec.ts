import { describe } from '@jest/globals';
import { onEventStoreDbAndNats } from '../support/backing.js';
import { purgedBackgroundStory } from './purged-background.story.js';
import { jobsStory } from './jobs.story.js';
import { monitorsStory } from './monitors.story.js';
import { followUpsStory } from './follow-ups.story.js';

describe.each([
  ['background jobs', jobsStory],
  ['monitors', monitorsStory],
  ['follow-ups', followUpsStory],
  ['purged background work', purgedBackgroundStory],
])('with EventStoreDB, Postgres and NATS: %s', (_, story) => story(onEventStoreDbAndNats));
