import { onPostgres } from '../support/backing.js';
import { pausesStory } from './pauses.story.js';

pausesStory(onPostgres);
