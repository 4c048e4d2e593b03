import { onPostgres } from '../support/backing.js';
import { openAiChatStory } from './openai-chat.story.js';

openAiChatStory(onPostgres);
