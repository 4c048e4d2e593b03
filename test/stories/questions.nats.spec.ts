import { describe } from '@jest/globals';
import { onEventStoreDbAndNats } from '../support/backing.js';
import { attachedQuestionsStory } from './attached-questions.story.js';
import { attachmentsStory } from './attachments.story.js';
import { oldClientsStory } from './old-clients.story.js';
import { parallelQuestionsStory } from './parallel-questions.story.js';
import { pausesStory } from './pauses.story.js';
import { questionsStory } from './questions.story.js';
import { webClientStory } from './web-client.story.js';

describe.each([
  ['questions', questionsStory],
  ['at the same moment', parallelQuestionsStory],
  ['pauses', pausesStory],
  ['attachments', attachmentsStory],
  ['questions with attachments', attachedQuestionsStory],
  ['old clients', oldClientsStory],
  ['the web client', webClientStory],
])('with EventStoreDB, Postgres and NATS: %s', (_, story) => story(onEventStoreDbAndNats));
