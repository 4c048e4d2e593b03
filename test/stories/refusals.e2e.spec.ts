import { onPostgres } from '../support/backing.js';
import { refusalsStory } from './refusals.story.js';

refusalsStory(onPostgres);
