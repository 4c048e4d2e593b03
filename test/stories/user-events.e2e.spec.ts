import { onPostgres } from '../support/backing.js';
import { userEventsStory } from './user-events.story.js';

userEventsStory(onPostgres);
