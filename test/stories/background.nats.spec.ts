import { describe } from '@jest/globals';
import { onEventStoreDbAndNats } from '../support/backing.js';
import { forgottenBackgroundStory } from './forgotten-background.story.js';
import { jobsStory } from './jobs.story.js';
import { monitorsStory } from './monitors.story.js';
import { wakesStory } from './wakes.story.js';

describe.each([
  ['background jobs', jobsStory],
  ['monitors', monitorsStory],
  ['wakes', wakesStory],
  ['forgotten background work', forgottenBackgroundStory],
])('with EventStoreDB, Postgres and NATS: %s', (_, story) => story(onEventStoreDbAndNats));
