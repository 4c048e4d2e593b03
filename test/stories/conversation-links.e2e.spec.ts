import { onPostgres } from '../support/backing.js';
import { conversationLinksStory } from './conversation-links.story.js';

conversationLinksStory(onPostgres);
