import { onPostgres } from '../support/backing.js';
import { researchStory } from './research.story.js';

researchStory(onPostgres);
