import { onPostgres } from '../support/backing.js';
import { forgottenRunsStory } from './forgotten-runs.story.js';

forgottenRunsStory(onPostgres);
