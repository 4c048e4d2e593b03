import { onPostgres } from '../support/backing.js';
import { webhooksStory } from './webhooks.story.js';

webhooksStory(onPostgres);
