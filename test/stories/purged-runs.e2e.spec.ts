import { onPostgres } from '../support/backing.js';
import { purgedRunsStory } from './purged-runs.story.js';

purgedRunsStory(onPostgres);
