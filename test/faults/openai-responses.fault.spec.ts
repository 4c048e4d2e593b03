import { onPostgres } from '../support/backing.js';
import { openAiResponseKillsStory } from './openai-responses.story.js';

openAiResponseKillsStory(onPostgres);
