import { onPostgres } from '../support/backing.js';
import { killedJobsStory } from './jobs.story.js';

killedJobsStory(onPostgres);
