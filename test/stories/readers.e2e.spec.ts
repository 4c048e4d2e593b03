import { onPostgres } from '../support/backing.js';
import { readersStory } from './readers.story.js';

readersStory(onPostgres);
