import { onPostgres } from '../support/backing.js';
import { openAiResponsesStory } from './openai-responses.story.js';

openAiResponsesStory(onPostgres);
