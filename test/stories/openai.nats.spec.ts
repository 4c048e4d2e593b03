import { describe } from '@jest/globals';
import { onEventStoreDbAndNats } from '../support/backing.js';
import { openAiChatStory } from './openai-chat.story.js';
import { openAiResponsesStory } from './openai-responses.story.js';

describe.each([
  ['chat completions', openAiChatStory],
  ['responses', openAiResponsesStory],
])('with EventStoreDB, Postgres and NATS: %s', (_, story) => story(onEventStoreDbAndNats));
