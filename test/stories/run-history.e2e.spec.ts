import { onPostgres } from '../support/backing.js';
import { runHistoryStory } from './run-history.story.js';

runHistoryStory(onPostgres);
