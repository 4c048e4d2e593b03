import { onPostgres } from '../support/backing.js';
import { schedulesStory } from './schedules.story.js';

schedulesStory(onPostgres);
