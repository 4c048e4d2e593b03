import { onPostgres } from '../support/backing.js';
import { tasksStory } from './tasks.story.js';

tasksStory(onPostgres);
