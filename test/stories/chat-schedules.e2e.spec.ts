import { onPostgres } from '../support/backing.js';
import { chatSchedulesStory } from './chat-schedules.story.js';

chatSchedulesStory(onPostgres);
