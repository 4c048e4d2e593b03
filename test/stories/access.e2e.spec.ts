import { onPostgres } from '../support/backing.js';
import { accessStory } from './access.story.js';

accessStory(onPostgres);
