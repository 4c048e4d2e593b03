import { onPostgres } from '../support/backing.js';
import { purgedBackgroundStory } from './purged-background.story.js';

purgedBackgroundStory(onPostgres);
