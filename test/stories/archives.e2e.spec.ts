import { onPostgres } from '../support/backing.js';
import { archivesStory } from './archives.story.js';

archivesStory(onPostgres);
