import { onPostgres } from '../support/backing.js';
import { conversationAccessStory } from './conversation-access.story.js';

conversationAccessStory(onPostgres);
