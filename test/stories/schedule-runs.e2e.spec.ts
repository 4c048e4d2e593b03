import { onPostgres } from '../support/backing.js';
import { scheduleRunsStory } from './schedule-runs.story.js';

scheduleRunsStory(onPostgres);
