import { describe } from '@jest/globals';
import { onEventStoreDbAndNats } from '../support/backing.js';
import { storiesOn } from '../support/stories.js';
import { agentKeysStory } from './agent-keys.story.js';
import { conversationAccessStory } from './conversation-access.story.js';
import { conversationLinksStory } from './conversation-links.story.js';
import { conversationsStory } from './conversations.story.js';
import { limitsStory } from './limits.story.js';
import { purgedRunsStory } from './purged-runs.story.js';
import { retentionStory } from './retention.story.js';
import { wrongCredentialsStory } from './wrong-credentials.story.js';

const stories = storiesOn({
  always: [
    ['conversations', conversationsStory],
    ['limits', limitsStory],
    ['retention', retentionStory],
    ['purged runs', purgedRunsStory],
  ],
  onDemand: [
    ['links to conversations', conversationLinksStory],
    ['access to conversations', conversationAccessStory],
    ['use of agents’ keys', agentKeysStory],
    ['wrong credentials', wrongCredentialsStory],
  ],
});

describe.each(stories)('with EventStoreDB, Postgres and NATS: %s', (_, story) => story(onEventStoreDbAndNats));
