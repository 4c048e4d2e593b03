import { onPostgres } from '../support/backing.js';
import { webhookRunsStory } from './webhook-runs.story.js';

webhookRunsStory(onPostgres);
