import { onPostgres } from '../support/backing.js';
import { wakesStory } from './wakes.story.js';

wakesStory(onPostgres);
