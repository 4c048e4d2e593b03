import { onPostgres } from '../support/backing.js';
import { calendarStory } from './calendar.story.js';

calendarStory(onPostgres);
