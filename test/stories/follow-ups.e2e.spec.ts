import { onPostgres } from '../support/backing.js';
import { followUpsStory } from './follow-ups.story.js';

followUpsStory(onPostgres);
