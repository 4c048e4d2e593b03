import { onPostgres } from '../support/backing.js';
import { presenceStory } from './presence.story.js';

presenceStory(onPostgres);
