import { describe } from '@jest/globals';
import { onEventStoreDbAndNats } from '../support/backing.js';
import { accessTokensStory } from './access-tokens.story.js';
import { demoStory } from './demo.story.js';
import { remoteSourcesStory } from './remote-sources.story.js';
import { sourceConfigStory } from './source-config.story.js';
import { tasksStory } from './tasks.story.js';
import { toolsStory } from './tools.story.js';

describe.each([
  ['the demo', demoStory],
  ['access tokens', accessTokensStory],
  ['tasks', tasksStory],
  ['tools', toolsStory],
  ['pages as sources', remoteSourcesStory],
  ['the config of sources', sourceConfigStory],
])('with EventStoreDB, Postgres and NATS: %s', (_, story) => story(onEventStoreDbAndNats));
