import { onPostgres } from '../support/backing.js';
import { webhooksFaultStory } from './webhooks.story.js';

webhooksFaultStory(onPostgres, 120);
