import { describe } from '@jest/globals';
import { onEventStoreDbAndNats } from '../support/backing.js';
import { storiesOn } from '../support/stories.js';
import { guardrailsStory } from './guardrails.story.js';
import { researchStory } from './research.story.js';
import { webClientBuilderStory } from './web-client-builder.story.js';
import { workflowsStory } from './workflows.story.js';

const stories = storiesOn({
  always: [['workflows', workflowsStory]],
  onDemand: [
    ['research', researchStory],
    ['guardrails', guardrailsStory],
    ['the agent pages of the web client', webClientBuilderStory],
  ],
});

describe.each(stories)('with EventStoreDB, Postgres and NATS: %s', (_, story) => story(onEventStoreDbAndNats));
