import { onPostgres } from '../support/backing.js';
import { researchKillsStory } from './research.story.js';

researchKillsStory(onPostgres);
