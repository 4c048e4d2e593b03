import { onPostgres } from '../support/backing.js';
import { deletedConversationsStory } from './deleted-conversations.story.js';

deletedConversationsStory(onPostgres);
