import { describe } from '@jest/globals';
import { onEventStoreDbAndNats } from '../support/backing.js';
import { storiesOn } from '../support/stories.js';
import { accessTokensStory } from './access-tokens.story.js';
import { demoStory } from './demo.story.js';
import { remoteSourcesStory } from './remote-sources.story.js';
import { sourceConfigStory } from './source-config.story.js';
import { tasksStory } from './tasks.story.js';
import { toolsStory } from './tools.story.js';

const stories = storiesOn({
  always: [
    ['tasks', tasksStory],
    ['pages as sources', remoteSourcesStory],
  ],
  onDemand: [
    ['the demo', demoStory],
    ['access tokens', accessTokensStory],
    ['tools', toolsStory],
    ['the config of sources', sourceConfigStory],
  ],
});

describe.each(stories)('with EventStoreDB, Postgres and NATS: %s', (_, story) => story(onEventStoreDbAndNats));
