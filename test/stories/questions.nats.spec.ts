import { describe } from '@jest/globals';
import { onEventStoreDbAndNats } from '../support/backing.js';
import { storiesOn } from '../support/stories.js';
import { attachedQuestionsStory } from './attached-questions.story.js';
import { attachmentsStory } from './attachments.story.js';
import { oldClientsStory } from './old-clients.story.js';
import { parallelQuestionsStory } from './parallel-questions.story.js';
import { pausesStory } from './pauses.story.js';
import { questionsStory } from './questions.story.js';
import { webClientStory } from './web-client.story.js';

const stories = storiesOn({
  always: [
    ['pauses', pausesStory],
    ['attachments', attachmentsStory],
    ['questions with attachments', attachedQuestionsStory],
  ],
  onDemand: [
    // Fifty over two processes are in `parallel-processes.nats.spec.ts`.
    ['concurrent questions', parallelQuestionsStory],
    ['questions', questionsStory],
    ['old clients', oldClientsStory],
    ['the web client', webClientStory],
  ],
});

describe.each(stories)('with EventStoreDB, Postgres and NATS: %s', (_, story) => story(onEventStoreDbAndNats));
