import { onPostgres } from '../support/backing.js';
import { limitsStory } from './limits.story.js';

limitsStory(onPostgres);
