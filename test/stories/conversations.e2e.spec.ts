import { onPostgres } from '../support/backing.js';
import { conversationsStory } from './conversations.story.js';

conversationsStory(onPostgres);
