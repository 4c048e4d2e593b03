import { onPostgres } from '../support/backing.js';
import { fuzzStory } from './fuzz.story.js';

fuzzStory(onPostgres);
