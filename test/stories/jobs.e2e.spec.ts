import { onPostgres } from '../support/backing.js';
import { jobsStory } from './jobs.story.js';

jobsStory(onPostgres);
